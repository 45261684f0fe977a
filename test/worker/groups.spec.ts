import { setTimeout as sleep } from 'node:timers/promises';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import type { DatabaseCall } from '../../lib/job/instrumentation.js';
import { describeEngines, gate } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';

// Only a notification or the groups themselves make such a worker claim in time.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;

interface Numbered {
  readonly n: number;
}

describeEngines('groups', (setup) => {
  it('with one job at a time run their jobs in order, in several processes', async () => {
    const world = await setup();
    const { handler, orderOf, mostAtOnce } = recorder();
    const start = () =>
      world.start({ worker: HARDLY_EVER, handlers: { q: handler }, queues: { q: { groups: { concurrency: 1 } } } });
    const engines = [await start(), await start(), await start()];

    const jobs = Array.from({ length: 60 }, (_, n) => ({ payload: { n }, options: { group: `g${n % 4}` } }));
    await engines[0]!.producer.enqueueMany('q', jobs);

    await eventually(async () => (await engines[0]!.admin.counts('q')).completed === 60);
    for (const group of ['g0', 'g1', 'g2', 'g3']) {
      expect(mostAtOnce(group)).toBe(1);
      expect(orderOf(group)).toEqual([...orderOf(group)].sort((a, b) => a - b));
      expect(orderOf(group)).toHaveLength(15);
    }
  });

  it('share the slots fairly', async () => {
    const world = await setup();
    const order: string[] = [];
    const { producer, runner, events } = await world.start({
      handlers: { q: ({ group }: JobContext) => void order.push(group!) },
      queues: { q: { groups: {}, concurrency: 2, prefetch: 0 } },
    });
    runner.pause('q');
    await producer.enqueueMany(
      'q',
      Array.from({ length: 100 }, () => ({ payload: 1, options: { group: 'large' } })),
    );
    for (const group of ['a', 'b', 'c']) await producer.enqueue('q', 1, { group });

    runner.resume('q');
    await events.untilCount(103, 'completed');

    for (const group of ['a', 'b', 'c']) expect(order.indexOf(group)).toBeLessThan(20);
  });

  it('are worked if a thousand of them wait', async () => {
    const world = await setup();
    const { producer, runner, events } = await world.start({
      handlers: { q: () => undefined },
      queues: { q: { groups: {}, concurrency: 1_000, prefetch: 0 } },
    });
    runner.pause('q');
    await producer.enqueueMany(
      'q',
      Array.from({ length: 1_000 }, (_, n) => ({ payload: n, options: { group: `g${n}` } })),
    );

    runner.resume('q');

    await events.untilCount(1_000, 'completed');
  });

  it('hold a limit in several processes', async () => {
    const world = await setup();
    const { handler, mostAtOnce } = recorder();
    const start = () => world.start({ handlers: { q: handler }, queues: { q: { groups: { concurrency: 3 } } } });
    const engines = [await start(), await start()];

    await engines[0]!.producer.enqueueMany(
      'q',
      Array.from({ length: 40 }, (_, n) => ({ payload: { n }, options: { group: 'a' } })),
    );

    await eventually(async () => (await engines[0]!.admin.counts('q')).completed === 40);
    expect(mostAtOnce('a')).toBeGreaterThanOrEqual(2);
    expect(mostAtOnce('a')).toBeLessThanOrEqual(3);
  });

  it('run the next job at the time that their rate allows, without a poll', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      ...{ worker: HARDLY_EVER, handlers: { q: () => Date.now() } },
      queues: { q: { groups: { rate: { limit: 20, per: '1s', burst: 1 } } } },
    });
    const from = Date.now();

    await producer.enqueueMany(
      'q',
      Array.from({ length: 6 }, () => ({ payload: 1, options: { group: 'a' } })),
    );

    const ended = await events.untilCount(6, 'completed');
    const times = ended.map(({ result }) => result as number);
    // 5 jobs after the burst need at least 250 ms by the clock of the database.
    expect(Math.max(...times) - from).toBeGreaterThanOrEqual(245);
  });

  it.each(['ended', 'running'])(
    'run a job at the time that their rate allows, without a poll, if the job before it is %s',
    async (before) => {
      const world = await setup();
      const clock = new FakeClock();
      const { open, opened } = gate();
      const { producer, events } = await world.start({
        ...{ clock, worker: HARDLY_EVER },
        handlers: { q: ({ payload }: JobContext<string>) => (payload === 'running' ? opened : 'done') },
        queues: { q: { lease: '1h', groups: { rate: { limit: 1, per: '10m' } } } },
      });
      await producer.enqueue('q', before, { group: 'a' });
      await events.until(before === 'ended' ? 'completed' : 'started');

      const waits = () => clock.sleeps.filter((ms) => ms > 300_000 && ms <= 600_000).length;
      const hasStarted = () => events.of('started').length === 2;
      await producer.enqueue('q', 'next', { group: 'a' });
      await eventually(() => waits() > 0);
      // The answer of a claim that was under way makes the worker wait once more. It polls after an hour.
      while (!hasStarted()) {
        const earlier = waits();
        await clock.advance(600_000);
        await eventually(() => hasStarted() || waits() > earlier);
      }
      expect(clock.elapsedMs).toBeLessThan(3_600_000);

      open();
      await events.untilCount(2, 'completed');
    },
  );

  it.each([{ maxRunning: 1 }, { rate: { limit: 1, per: '1h' } }, { rest: '1h' }] as const)(
    'cause no further claims while the limits of their queue allow no job: %j',
    async (limits) => {
      const world = await setup();
      const clock = new FakeClock();
      const { open, opened } = gate();
      const claims: DatabaseCall[] = [];
      const { producer, admin, events } = await world.start({
        ...{ clock, worker: HARDLY_EVER, handlers: { q: () => opened } },
        queues: { q: { groups: {}, concurrency: 10 } },
        instrumentations: [{ databaseCalled: (call) => void (call.kind === 'claim' && claims.push(call)) }],
      });
      await admin.limit('q', limits);

      const jobs = Array.from({ length: 10 }, (_, n) => ({ payload: n, options: { group: `g${n}` } }));
      await producer.enqueueMany('q', jobs);
      await eventually(() => claims.length > 0);
      // Its notification makes the worker claim once more.
      await producer.enqueue('q', 10, { group: 'g10' });
      for (let times = 0; times < 100; times++) {
        await clock.advance(10);
        await admin.counts('q');
      }
      const claimsOfLimited = claims.length;
      open();
      await admin.limit('q', { maxRunning: false, rate: false, rest: false });

      await events.untilCount(11, 'completed');
      expect(claimsOfLimited).toBeLessThan(10);
    },
  );

  it('wait for a job that is retried', async () => {
    const world = await setup();
    const order: number[] = [];
    const { producer, events } = await world.start({
      handlers: {
        q: ({ payload, attempt }: JobContext<Numbered>) => {
          order.push(payload.n);
          if (payload.n === 1 && attempt < 3) throw new Error('not yet');
        },
      },
      queues: { q: { retry: { attempts: 5, backoff: 20 }, groups: { concurrency: 1 } } },
    });

    for (const n of [1, 2, 3]) await producer.enqueue('q', { n }, { group: 'a' });

    await events.untilCount(3, 'completed');
    expect(order).toEqual([1, 1, 1, 2, 3]);
  });

  it('rest when a handler asks for it, while other groups go on', async () => {
    const world = await setup();
    let asks = true;
    const { producer, admin, events } = await world.start({
      handlers: {
        q: (job: JobContext) => {
          if (job.group === 'a' && asks) job.rateLimit('1h');
          return job.attempt;
        },
      },
      queues: { q: { groups: {} } },
    });

    await producer.enqueue('q', 1, { group: 'a' });
    await events.untilCount(1, 'released');
    await producer.enqueue('q', 2, { group: 'b' });
    await events.untilCount(1, 'completed');
    const before = await admin.counts('q');
    asks = false;
    await admin.group('q', 'a').rest(false);

    const ended = await events.untilCount(2, 'completed');
    expect(before).toMatchObject({ waiting: 1, completed: 1 });
    expect(ended.map(({ result }) => result)).toEqual([1, 1]);
  });

  it('can be paused, limited and listed', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      handlers: { q: () => undefined },
      queues: { q: { groups: {} } },
    });
    const group = admin.group('q', 'a');
    await group.pause();
    await producer.enqueueMany('q', [
      { payload: 1, options: { group: 'a' } },
      { payload: 1, options: { group: 'a', delay: '1h' } },
      { payload: 1, options: { group: 'b' } },
    ]);
    await events.untilCount(1, 'completed');
    await group.limit({ concurrency: 2, weight: 3, rate: { limit: 5, per: '1s' } });

    const paused = await admin.groups('q', { state: 'paused' });
    expect(await group.counts()).toEqual({ waiting: 1, scheduled: 1, active: 0 });
    expect(paused.groups).toMatchObject([{ queue: 'q', group: 'a', state: 'paused', concurrency: 2, weight: 3 }]);
    expect((await admin.groups('q', { counts: true })).groups.map(({ counts }) => counts)).toEqual([
      { waiting: 1, scheduled: 1, active: 0 },
      { waiting: 0, scheduled: 0, active: 0 },
    ]);
    expect((await admin.groups('q', { limit: 1 })).next).toBe('a');
    expect((await admin.groups('q', { after: 'a' })).groups).toMatchObject([{ group: 'b' }]);

    await group.resume();
    await events.untilCount(2, 'completed');
    await group.limit(null);
    expect((await admin.groups('q', { limit: 1 })).groups[0]).not.toHaveProperty('concurrency');
  });

  it('run in a process without options for groups', async () => {
    const world = await setup();
    await world.start();
    await world.sql(`INSERT INTO sql_queue_jobs (queue, payload, group_key) VALUES ('q', '1', 'a'), ('q', '2', 'b')`);

    const { events } = await world.start({ handlers: { q: ({ group }: JobContext) => group } });

    const ended = await events.untilCount(2, 'completed');
    expect(new Set(ended.map(({ result }) => result))).toEqual(new Set(['a', 'b']));
  });

  it('run one more job after the running one, with the latest payload', async () => {
    const world = await setup();
    const { opened, open } = gate();
    const ran: number[] = [];
    const { producer, events } = await world.start({
      handlers: {
        q: async ({ payload }: JobContext<Numbered>) => {
          ran.push(payload.n);
          await opened;
        },
      },
      queues: { q: { groups: { concurrency: 1 } } },
    });
    const options = { group: 'a', key: 'a', onConflict: 'after' } as const;
    const first = await producer.enqueue('q', { n: 1 }, options);
    await events.until('started');

    const second = await producer.enqueue('q', { n: 2 }, options);
    const third = await producer.enqueue('q', { n: 3 }, options);
    open();
    await events.untilCount(2, 'completed');

    expect([first.outcome, second.outcome, third.outcome]).toEqual(['created', 'created', 'replaced']);
    expect(third.id).toBe(second.id);
    expect(ran).toEqual([1, 3]);
  });

  it('are needed by jobs that run after the owner of their key', async () => {
    const world = await setup();
    const { producer } = await world.start({ queues: { q: { groups: {} } } });
    const after = { key: 'k', onConflict: 'after' } as const;

    await expect(producer.enqueue('q', 1, after)).rejects.toThrow(
      `expected group beside onConflict: 'after', got none`,
    );
    await expect(producer.enqueue('q', 1, { ...after, group: 'a' })).rejects.toThrow(
      `onConflict: 'after' needs groups: { concurrency: 1 } in the options of queue "q"`,
    );
    await expect(producer.enqueue('q', 1, { ...after, group: 'a', keyUntil: 'started' })).rejects.toThrow(
      `expected keyUntil to be 'finished' with onConflict: 'after'`,
    );
  });

  it('are refused in a queue without groups, and with wrong names', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ queues: { q: { groups: {} } } });

    await expect(producer.enqueue('other', 1, { group: 'a' })).rejects.toThrow(
      'Cannot enqueue into "other": queue "other" has no groups; add groups: {} to its options',
    );
    for (const group of ['', ' a', 'a ', 'x'.repeat(101), 7])
      await expect(producer.enqueue('q', 1, { group: group as string })).rejects.toThrow('expected group to be a text');
    expect(() => admin.group('q', '')).toThrow('expected the group to be a text');
    await expect(admin.group('q', 'a').limit({ weight: 0 })).rejects.toThrow('expected weight to be a whole number');
  });
});

/** Records the order of the starts, and how many jobs of a group run at once. */
function recorder() {
  const starts = new Map<string, number[]>();
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const handler = async ({ group, payload }: JobContext<Numbered>) => {
    starts.set(group!, [...(starts.get(group!) ?? []), payload.n]);
    const now = (running.get(group!) ?? 0) + 1;
    running.set(group!, now);
    most.set(group!, Math.max(now, most.get(group!) ?? 0));
    await sleep(Math.random() * 10);
    running.set(group!, running.get(group!)! - 1);
  };
  return {
    handler,
    orderOf: (group: string) => starts.get(group) ?? [],
    mostAtOnce: (group: string) => most.get(group) ?? 0,
  };
}
