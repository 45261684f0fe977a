import { limitPages } from '../../lib/common/lists.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, type World } from '../support/engines.js';
import type { Engine } from '../support/engine.js';
import { eventually } from '../support/eventually.js';

// Only a notification makes such a worker claim in time.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;
const DAY_MS = 86_400_000;

afterEach(() => limitPages(Infinity));

describeEngines('a signal', (setup) => {
  it('wakes all jobs that wait for it, page by page, also behind those of a paused queue', async () => {
    const world = await setup();
    const { producer, events, admin } = await startWaiting(world);
    await enqueueWaiting({ producer, events }, 'paused', 5);
    const ids = await enqueueWaiting({ producer, events }, 'q', 3);
    await admin.pause('paused');
    limitPages(2);

    await producer.signal('go', 'all', 1);

    expect(await admin.counts('paused')).toMatchObject({ waiting: 5, scheduled: 0 });
    expect(await admin.counts('q')).toMatchObject({ scheduled: 0 });
    const completed = await events.untilCount(3, 'completed', { queue: 'q' });
    expect(completed.map(({ jobId }) => jobId).sort(byNumber)).toEqual(ids);
  });

  it('resolves with the number of jobs that it woke', async () => {
    const world = await setup();
    const { producer, events } = await startWaiting(world);
    await enqueueWaiting({ producer, events }, 'q', 3);

    expect(await producer.signal('go', 'other')).toBe(0);
    expect(await producer.signal('go', 'all')).toBe(3);
  });

  it('resolves with null in a transaction of the caller, after whose commit the jobs wake', async () => {
    const world = await setup();
    const { producer, events } = await startWaiting(world);
    const [id] = await enqueueWaiting({ producer, events }, 'q', 1);

    const woken = await world.dataSource.transaction((manager) => producer.signal('go', 'all', 1, { manager }));

    expect(woken).toBeNull();
    expect(await events.until('completed')).toMatchObject({ jobId: id, result: 1 });
  });

  it('is unmatched until a job receives it, also if it was sent before the wait', async () => {
    const world = await setup();
    const { producer, events, admin } = await startWaiting(world);
    await enqueueWaiting({ producer, events }, 'q', 1, 'awaited');
    await admin.pause('q');
    for (const key of ['early', 'awaited', 'mispelt']) {
      await producer.signal('go', key, { secret: 1 });
      world.advance(10);
    }
    const before = await admin.signals({ unmatched: true });

    await producer.enqueue('q', 'early');
    await admin.resume('q');
    await events.untilCount(2, 'completed');

    expect(before.signals).toMatchObject([{ key: 'early' }, { key: 'mispelt' }]);
    const after = await admin.signals({ unmatched: true });
    expect(after.signals).toEqual([
      { name: 'go', key: 'mispelt', sentAt: expect.any(Date), expiresAt: expect.any(Date), isMatched: false },
    ]);
  });

  it('is unmatched again if it is sent once more, or if the only job that waits for it is cancelled', async () => {
    const world = await setup();
    const { producer, events, admin } = await startWaiting(world);
    const [id] = await enqueueWaiting({ producer, events }, 'q', 1, 'cancelled');
    await enqueueWaiting({ producer, events }, 'q', 1, 'again');
    await producer.signal('go', 'again', 1);
    await events.until('completed');

    await admin.cancel(id!);
    await producer.signal('go', 'cancelled');
    await producer.signal('go', 'again', 2);

    const { signals } = await admin.signals({ unmatched: true });
    expect(signals.map(({ key }) => key).sort()).toEqual(['again', 'cancelled']);
  });

  it('is listed page by page, in both orders, with and without the matched ones', async () => {
    const world = await setup();
    const { producer, events, admin } = await startWaiting(world);
    await enqueueWaiting({ producer, events }, 'q', 1, '3');
    for (const key of ['1', '2', '3', '4', '5']) {
      await producer.signal('go', key);
      world.advance(10);
    }
    await events.until('completed');
    limitPages(2);

    const keys = async (order: 'oldest' | 'newest', unmatched: boolean) => {
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await admin.signals({ unmatched }, { order, limit: 2, after });
        found.push(...page.signals.map(({ key }) => key));
        after = page.next;
      } while (after !== undefined);
      return found;
    };

    expect(await keys('oldest', false)).toEqual(['1', '2', '3', '4', '5']);
    expect(await keys('newest', false)).toEqual(['5', '4', '3', '2', '1']);
    expect(await keys('oldest', true)).toEqual(['1', '2', '4', '5']);
    expect(await keys('newest', true)).toEqual(['5', '4', '2', '1']);
  });

  it('does not start a job in its backoff after the wait', async () => {
    const world = await setup();
    let isSignalled = false;
    const { producer, events, steps, admin } = await world.start({
      worker: HARDLY_EVER,
      handlers: {
        q: async (job) => {
          if (isSignalled) throw new Error('broken');
          await job.waitFor('go', { key: 'all' });
        },
      },
      queues: { q: { retry: { attempts: 5, backoff: '10m' } } },
    });
    const { id } = await producer.enqueue('q', 0);
    await events.until('snoozed');
    isSignalled = true;
    await producer.signal('go', 'all', 1);
    await events.until('failed');

    await producer.signal('go', 'all', 2);
    const woken = await steps.wakeMissed();

    expect(woken).toEqual([]);
    expect(await admin.get(id)).toMatchObject({ state: 'scheduled', attempt: 1 });
  });

  it('does not end a snooze of a job that has left its wait', async () => {
    const world = await setup();
    let isSignalled = false;
    const { producer, events, steps, admin } = await world.start({
      worker: HARDLY_EVER,
      handlers: {
        q: async (job) => {
          if (isSignalled) job.snooze('10m');
          await job.waitFor('go', { key: 'all' });
        },
      },
    });
    const { id } = await producer.enqueue('q', 0);
    await events.until('snoozed');
    isSignalled = true;
    await producer.signal('go', 'all', 1);
    await events.untilCount(2, 'snoozed');

    await producer.signal('go', 'all', 2);
    const woken = await steps.wakeMissed();

    expect(woken).toEqual([]);
    expect(await admin.get(id)).toMatchObject({ state: 'scheduled' });
  });

  it('is found days after its sender died, behind any number of jobs that wait for others', async () => {
    const world = await setup();
    const { producer, events, steps, runner } = await startWaiting(world);
    await enqueueWaiting({ producer, events }, 'q', 5, 'later');
    const ids = await enqueueWaiting({ producer, events }, 'q', 3, 'lost');
    await runner.stop();
    await producer.signal('go', 'another', 'for no job');
    await world.sql(
      `UPDATE sql_queue_signals SET hash = (SELECT MAX(signal_hash) FROM sql_queue_steps WHERE job_id = ${ids[0]})`,
    );
    world.advance(3 * DAY_MS);
    limitPages(2);

    const woken = await steps.wakeMissed();

    expect(woken.map(({ id }) => id).sort(byNumber)).toEqual(ids);
    expect(await steps.wakeMissed()).toEqual([]);
  });

  it('leaves a job that an administrator has scheduled anew until then, which gets it at once', async () => {
    const world = await setup();
    const { producer, events, admin } = await startWaiting(world);
    const [id] = await enqueueWaiting({ producer, events }, 'q', 1);
    await admin.reschedule(id!, '1d');

    await producer.signal('go', 'all', 1);
    const before = await admin.get(id!);
    await admin.retry(id!);

    expect(before).toMatchObject({ state: 'scheduled' });
    expect(await events.until('completed')).toMatchObject({ result: 1 });
  });
});

describeEngines(
  'a signal for a job that an open transaction has locked',
  (setup) => {
    it('is received while a transaction of a caller sends it again, without waiting for that', async () => {
      const world = await setup();
      const { producer, events, admin } = await startWaiting(world);
      await producer.signal('go', 'all', 1);
      const [sent, done] = [gate(), gate()];
      const sending = world.dataSource.transaction('READ COMMITTED', async (manager) => {
        await producer.signal('go', 'all', 2, { manager });
        sent.open();
        await done.opened;
      });
      await sent.opened;

      await producer.enqueue('q', 'all');
      const completed = await events.until('completed');
      done.open();
      await sending;

      expect(completed).toMatchObject({ result: 1 });
      expect((await admin.signals({ unmatched: true })).signals).toMatchObject([{ key: 'all' }]);
    });

    it('resolves, and wakes the other jobs; a search wakes the locked one afterwards', async () => {
      const world = await setup();
      const { producer, events, steps } = await startWaiting(world);
      const ids = await enqueueWaiting({ producer, events }, 'q', 3);
      const [locked, done] = [gate(), gate()];
      const holding = world.dataSource.transaction('READ COMMITTED', async (manager) => {
        await manager.query(`SELECT id FROM sql_queue_jobs FORCE INDEX (PRIMARY) WHERE id = ${ids[0]} FOR UPDATE`);
        locked.open();
        await done.opened;
      });
      await locked.opened;

      await producer.signal('go', 'all', 1);
      const others = await events.untilCount(2, 'completed');
      const whileLocked = await steps.wakeMissed();
      done.open();
      await holding;
      const woken = await steps.wakeMissed();

      expect(others.map(({ jobId }) => jobId).sort(byNumber)).toEqual(ids.slice(1));
      expect(whileLocked).toEqual([]);
      expect(woken).toMatchObject([{ id: ids[0] }]);
    });
  },
  ['mysql', 'mariadb'],
);

/** A worker whose jobs wait for the signal `go` with their payload as the key. */
function startWaiting(world: World): Promise<Engine> {
  const handle = (job: JobContext<string>) => job.waitFor('go', { key: job.payload, timeout: '20d' });
  return world.start({ worker: HARDLY_EVER, handlers: { q: handle, paused: handle } });
}

/** Resolves with the ids when the jobs wait. */
async function enqueueWaiting(
  { producer, events }: Pick<Engine, 'producer' | 'events'>,
  queue: string,
  count: number,
  payload = 'all',
): Promise<number[]> {
  const jobs = await producer.enqueueMany(
    queue,
    Array.from({ length: count }, () => ({ payload })),
  );
  const ids = jobs.map(({ id }) => id);
  await eventually(() => ids.every((id) => events.jobs('snoozed').includes(id)));
  return ids;
}

function byNumber(a: number, b: number): number {
  return a - b;
}
