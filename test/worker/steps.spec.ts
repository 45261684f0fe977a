import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import type { Engine } from '../support/engine.js';

// Only a notification makes such a worker claim in time.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;

describeEngines('steps', (setup) => {
  it('run once, and later attempts get their values', async () => {
    const world = await setup();
    const ran: string[] = [];
    const { producer, events } = await world.start({
      handlers: {
        q: async (job) => {
          const first = await job.step('first', () => ran.push('first') && { at: new Date(0) });
          const second = await job.step('second', async () => ran.push('second') && undefined);
          if (job.attempt < 3) throw new Error('again');
          return { first, second, key: job.stepKey('first') };
        },
      },
    });

    const { id } = await producer.enqueue('q', 0);

    const { result } = await events.until('completed');
    expect(result).toEqual({ first: { at: '1970-01-01T00:00:00.000Z' }, second: undefined, key: `q:${id}:first` });
    expect(ran).toEqual(['first', 'second']);
  });

  it('that fail run again', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      handlers: {
        q: (job) =>
          job.step('first', () => {
            if (job.attempt === 1) throw new Error('no');
            return job.attempt;
          }),
      },
    });

    await producer.enqueue('q', 0);

    expect(await events.until('completed')).toMatchObject({ result: 2 });
  });

  it('with a transaction commit together with their writes', async () => {
    const world = await setup();
    await world.sql('CREATE TABLE ledger (entry INT)');
    const { producer, events } = await world.start({
      handlers: {
        q: async (job) => {
          const add = (entry: number, fails = false) =>
            job.step(`entry ${entry}`.replace(' ', '-'), { transaction: true }, async (manager) => {
              await manager.query(`INSERT INTO ledger VALUES (${entry})`);
              if (fails) throw new Error('rolled back');
              return entry;
            });
          const one = await add(1);
          const two = await add(2, job.attempt < 3);
          return [one, two];
        },
      },
    });

    await producer.enqueue('q', 0);

    expect(await events.until('completed')).toMatchObject({ attempt: 3, result: [1, 2] });
    expect(await world.sql('SELECT entry FROM ledger ORDER BY entry')).toEqual([{ entry: 1 }, { entry: 2 }]);
  });

  it('sleep without a slot and without an attempt', async () => {
    const world = await setup();
    const runs: number[] = [];
    const { producer, events, admin } = await world.start({
      handlers: {
        q: async (job) => {
          runs.push(job.attempt);
          await job.step('before', () => 'done');
          await job.sleep('night', '1h');
          return job.attempt;
        },
      },
      queues: { q: { concurrency: 1 } },
    });
    const { id } = await producer.enqueue('q', 0);
    await events.until('snoozed');

    const asleep = await admin.get(id);
    world.advance(3_600_000);

    expect(await events.until('completed')).toMatchObject({ result: 1 });
    expect(asleep).toMatchObject({ state: 'scheduled' });
    expect(runs).toEqual([1, 1]);
  });

  it('do not sleep until a time that is over', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      handlers: { q: (job) => job.sleep('past', new Date(5)).then(() => 'awake') },
    });

    await producer.enqueue('q', 0);

    expect(await events.until('completed')).toMatchObject({ result: 'awake' });
    expect(events.all.filter(({ event }) => event === 'snoozed')).toEqual([]);
  });

  it('wait for a signal that another process sends later', async () => {
    const world = await setup();
    const { events, workerChannel } = await startWaiting(world);
    const { producer } = await world.start({ autoStart: false });
    await producer.enqueue('q', 'order 7');
    await events.until('snoozed');
    await workerChannel.untilListening('q');

    await producer.signal('approval', 'order 8', { by: 'nobody' });
    await producer.signal('approval', 'order 7', { by: 'ada' });

    expect(await events.until('completed')).toMatchObject({ result: { approved: { by: 'ada' }, attempt: 1 } });
  });

  it('get a signal that was sent before they wait, and the latest of a key', async () => {
    const world = await setup();
    const { producer, events } = await startWaiting(world);
    await producer.signal('approval', 'order 7', 1);
    await producer.signal('approval', 'order 7', 2);

    await producer.enqueue('q', 'order 7');

    expect(await events.until('completed')).toMatchObject({ result: { approved: 2 } });
    expect(events.all.filter(({ event }) => event === 'snoozed')).toEqual([]);
  });

  it('get null from a signal without data, and undefined after the timeout', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      handlers: {
        q: async (job) => {
          const first = await job.waitFor('ping', { key: 'k' });
          const second = await job.waitFor('pong', { key: 'k', timeout: '1m' });
          return [first === null, second === undefined];
        },
      },
    });
    await producer.enqueue('q', 0);
    await events.until('snoozed');

    await producer.signal('ping', 'k');
    await events.untilCount(2, 'snoozed');
    world.advance(60_000);

    expect(await events.until('completed')).toMatchObject({ attempt: 1, result: [true, true] });
  });

  it('get a signal only if the transaction of its sender commits', async () => {
    const world = await setup();
    const { producer, events } = await startWaiting(world);
    await producer.enqueue('q', 'order 7');
    await events.until('snoozed');

    const failing = world.dataSource.transaction(async (manager) => {
      await producer.signal('approval', 'order 7', 'rolled back', { manager });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await world.dataSource.transaction((manager) => producer.signal('approval', 'order 7', 'committed', { manager }));

    expect(await events.until('completed')).toMatchObject({ result: { approved: 'committed' } });
  });

  it('get a signal whose sender died before it woke the job', async () => {
    const world = await setup();
    const { producer, events, steps } = await startWaiting(world);
    await producer.enqueue('q', 'order 7');
    await events.until('snoozed');
    const { hash } = await sendWithoutWaking(world, producer);

    const woken = await steps.wakeMissed();

    expect(hash).toHaveLength(64);
    expect(woken).toMatchObject([{ queue: 'q' }]);
    expect(await steps.wakeMissed()).toEqual([]);
  });

  it.each([
    ['a name twice', (job: JobContext) => job.step('a', () => 1).then(() => job.step('a', () => 2)), 'DUPLICATE_STEP'],
    ['a step in a step', (job: JobContext) => job.step('a', () => job.step('b', () => 1)), 'STEP_NOT_ALLOWED'],
    [
      'two steps at once',
      (job: JobContext) => Promise.all([job.step('a', () => 1), job.step('b', () => 2)]),
      'STEP_NOT_ALLOWED',
    ],
    ['a step that is not awaited', (job: JobContext) => void job.step('a', never), 'STEP_NOT_ALLOWED'],
    ['an invalid name', (job: JobContext) => job.step('a b', () => 1), 'INVALID_OPTIONS'],
    ['no work', (job: JobContext) => job.step('a', 5 as never), 'INVALID_OPTIONS'],
    ['unknown options', (job: JobContext) => job.step('a', { once: true } as never, never), 'INVALID_OPTIONS'],
    ['a value that JSON loses', (job: JobContext) => job.step('a', () => new Map()), 'PAYLOAD_INVALID'],
    ['no key', (job: JobContext) => job.waitFor('a', {} as never), 'INVALID_OPTIONS'],
    ['an impossible sleep', (job: JobContext) => job.sleep('a', 'long' as never), 'INVALID_OPTIONS'],
  ])('fail the attempt with %s', async (_, handle, code) => {
    const world = await setup();
    const { producer, events } = await world.start({ handlers: { q: handle }, queues: { q: { retry: 1 } } });

    await producer.enqueue('q', 0);

    expect(await events.until('dead')).toMatchObject({ error: { code } });
  });

  it('cannot be stored by a worker that has lost the job', async () => {
    const world = await setup();
    await world.sql('CREATE TABLE ledger (entry INT)');
    const { open, opened } = gate();
    const codes: unknown[] = [];
    const attempt = (work: Promise<unknown>) => work.catch((error: { code: string }) => codes.push(error.code));
    const { producer, events } = await world.start({
      handlers: {
        q: async (job) => {
          if (job.attempt > 1) return job.step('plain', () => 'second');
          await opened;
          await attempt(job.step('plain', () => 'first'));
          await attempt(
            job.step('ledger', { transaction: true }, (manager) => manager.query('INSERT INTO ledger VALUES (1)')),
          );
          await attempt(job.sleep('night', '1h'));
          await attempt(job.waitFor('ping', { key: 'k' }));
          return 'first';
        },
      },
    });
    await producer.enqueue('q', 0);
    await events.until('started');

    await world.sql('UPDATE sql_queue_jobs SET claim_id = 5');
    open();

    await eventually(() => codes.length === 4);
    expect(codes).toEqual(['LEASE_LOST', 'LEASE_LOST', 'LEASE_LOST', 'LEASE_LOST']);
    expect(await world.sql('SELECT entry FROM ledger')).toEqual([]);
    expect(await world.sql('SELECT name FROM sql_queue_steps')).toEqual([]);
  });

  it('stay while the job exists or is in the history, and are deleted after it', async () => {
    const world = await setup();
    const { producer, events, admin, steps, store } = await world.start({
      handlers: { q: (job) => job.step('a', () => 1) },
      queues: { q: { retention: { completed: '1d' } } },
    });
    await producer.enqueue('q', 0);
    await events.until('completed');
    const count = async () =>
      Number((await world.sql<{ n: number }>('SELECT COUNT(*) AS n FROM sql_queue_steps'))[0]!.n);

    world.advance(2 * 3_600_000);
    await steps.pruneSteps(100);
    const kept = await count();
    world.advance(2 * 86_400_000);
    await store.prune(100);
    await steps.pruneSteps(100);

    expect([kept, await count()]).toEqual([1, 0]);
    expect(await admin.counts('q')).toMatchObject({ completed: 0 });
  });

  it('are skipped when a dead job is retried', async () => {
    const world = await setup();
    const ran: number[] = [];
    let isBroken = true;
    const { producer, events, admin } = await world.start({
      handlers: {
        q: async (job) => {
          await job.step('a', () => ran.push(1));
          if (isBroken) throw new Error('broken');
        },
      },
      queues: { q: { retry: 1 } },
    });
    const { id } = await producer.enqueue('q', 0);
    await events.until('dead');

    isBroken = false;
    await admin.retry(id);
    await events.until('completed');

    expect(ran).toHaveLength(1);
  });
});

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** A worker whose jobs wait for an approval with their payload as the key. */
function startWaiting(world: World): Promise<Engine> {
  return world.start({
    worker: HARDLY_EVER,
    handlers: {
      q: async (job: JobContext<string>) => ({
        approved: await job.waitFor('approval', { key: job.payload, timeout: '7d' }),
        attempt: job.attempt,
      }),
    },
  });
}

async function sendWithoutWaking(world: World, producer: Engine['producer']): Promise<{ hash: string }> {
  await producer.signal('approval', 'order 9', 'for no job');
  await world.sql(`UPDATE sql_queue_signals SET hash = (SELECT signal_hash FROM sql_queue_steps)`);
  return (await world.sql<{ hash: string }>('SELECT hash FROM sql_queue_signals'))[0]!;
}
