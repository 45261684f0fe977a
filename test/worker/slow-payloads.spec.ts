import { setImmediate } from 'node:timers/promises';
import { readEnvelope, toEnvelope, type PayloadCodec } from '../../lib/job/codec/payload-codec.js';
import { advanceUntilDone, FakeClock } from '../support/fake-clock.js';
import { describeEngines, gate, untilAborted, type World } from '../support/engines.js';
import { blobsFor } from '../support/test-blobs.js';

const LEASE_MS = 30_000;
const BRIEFLY = { timeout: '1s', concurrency: 1, retry: 1, lease: '1h' } as const;

/** A codec and a blob store whose first reads, `slow` of them, wait until the test answers them. Payloads of 2 kB are blobs. */
async function slowReads(world: World, slow: number) {
  let [reads, underWay, most] = [0, 0, 0];
  const { opened: begun, open: begin } = gate();
  const { opened: answered, open: answer } = gate();
  const read = async <T>(text: T): Promise<T> => {
    begin();
    most = Math.max(most, ++underWay);
    if (reads++ < slow) await answered;
    else await setImmediate();
    underWay--;
    return text;
  };
  const codec: PayloadCodec = {
    encode: (text) => toEnvelope({ key: 'slow', content: text }),
    decode: (stored) => read(readEnvelope(stored)!.content),
  };
  const { store } = await blobsFor(world);
  const blobs = {
    store: {
      ...store,
      put: store.put.bind(store),
      get: async (...args: Parameters<typeof store.get>) => read(await store.get(...args)),
    },
    over: '1kb',
  } as const;
  return { codec, blobs, begun, answer, most: () => most };
}

describeEngines('a payload that is read slowly', (setup) => {
  const open = async ({ slow = 1 } = {}) => {
    const world = await setup();
    const clock = new FakeClock();
    const { codec, blobs, begun, answer, most } = await slowReads(world, slow);
    return { world, clock, begun, answer, most, reading: { codec: { codec }, 'blob store': { blobs } } };
  };

  it.each(['codec', 'blob store'] as const)(
    'costs no attempt if the %s never answers, although the timeout of the job is shorter',
    async (slow) => {
      const { world, clock, begun, answer, reading } = await open();
      const { producer, events } = await world.start({
        ...{ clock, ...reading[slow] },
        queues: { q: BRIEFLY },
        handlers: { q: ({ attempt }) => attempt },
      });
      await producer.enqueue('q', 'x'.repeat(2_000));
      await begun;

      await clock.advance(1_000);
      await clock.advance(29_000);
      await Promise.race([events.until('snoozed'), events.until('dead')]);
      answer();
      const completed = await Promise.race([advanceUntilDone(clock, events.until('completed')), events.until('dead')]);

      expect(completed).toMatchObject({ event: 'completed', result: 1 });
    },
  );

  it.each(['codec', 'blob store'] as const)(
    'leaves the whole timeout to the handler, if the %s is slow',
    async (slow) => {
      const { world, clock, begun, answer, reading } = await open();
      const { opened: called, open: call } = gate<AbortSignal>();
      const { producer, events } = await world.start({
        ...{ clock, ...reading[slow] },
        queues: { q: BRIEFLY },
        handlers: {
          q: ({ signal }) => {
            call(signal);
            return gate().opened;
          },
        },
      });
      await producer.enqueue('q', 'x'.repeat(2_000));
      await begun;

      await clock.advance(5_000);
      answer();
      const signal = await called;
      await clock.advance(999);
      const early = signal.aborted;
      await clock.advance(1);
      await events.until('dead');

      expect(early).toBe(false);
      expect(signal.reason).toMatchObject({ code: 'JOB_TIMEOUT', timeoutMs: 1_000 });
    },
  );

  it('delays no other job of its batch for longer than one read, and none loses an attempt', async () => {
    const { world, clock, begun, answer, reading } = await open({ slow: 2 });
    const calls: unknown[][] = [];
    const { producer, runner, events } = await world.start({
      ...{ clock, ...reading['blob store'], autoStart: false },
      queues: { q: BRIEFLY },
      handlers: { q: { batch: 4, handle: (jobs) => void calls.push(jobs.map(({ payload }) => payload)) } },
    });
    const long = 'x'.repeat(2_000);
    await producer.enqueueMany('q', [{ payload: 1 }, { payload: long }, { payload: long }, { payload: 2 }]);
    await runner.start();
    await begun;

    await clock.advance(30_000);
    await Promise.race([events.untilCount(2, 'snoozed'), events.until('dead')]);
    await Promise.race([events.untilCount(2, 'completed'), events.until('dead')]);
    answer();
    await advanceUntilDone(clock, events.untilCount(4, 'completed'));

    expect(calls[0]).toEqual([1, 2]);
    expect(calls.slice(1).flat()).toEqual([long, long]);
    expect(events.of('completed').map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
  });

  it.each(['is', 'is never'] as const)(
    'does not reach the handler if the job is cancelled meanwhile, and the read %s answered',
    async (what) => {
      const { world, clock, begun, answer, reading } = await open();
      const handle = vi.fn();
      const { producer, admin, events } = await world.start({
        ...{ clock, ...reading.codec },
        queues: { q: BRIEFLY },
        handlers: { q: handle },
      });
      const { id } = await producer.enqueue('q', 1);
      await begun;

      await admin.cancel(id);
      if (what === 'is') answer();
      else await clock.advance(30_000);
      await Promise.race([events.until('cancelled'), events.until('completed'), events.until('snoozed')]);

      expect(handle).not.toHaveBeenCalled();
      expect(await admin.get(id)).toMatchObject({ state: 'cancelled' });
    },
  );

  it('does not reach the handler if the job was released meanwhile, because its worker stopped', async () => {
    const { world, clock, begun, answer, reading } = await open();
    const handle = vi.fn();
    const { producer, runner, events } = await world.start({ clock, ...reading.codec, handlers: { q: handle } });
    await producer.enqueue('q', 1);
    await begun;

    await advanceUntilDone(clock, runner.stop({ timeout: 0 }));
    await events.until('released');
    answer();
    const other = await world.start({ ...reading.codec, handlers: { q: ({ attempt }) => attempt } });
    const completed = await other.events.until('completed');

    expect(completed).toMatchObject({ result: 1 });
    expect(handle).not.toHaveBeenCalled();
  });

  it('is no failed attempt if the lease of its job is lost meanwhile', async () => {
    const { world, clock, begun, answer, reading } = await open();
    const { handle, retryIf } = { handle: vi.fn(), retryIf: vi.fn() };
    const { producer, runner, events } = await world.start({
      ...{ clock, ...reading.codec },
      queues: { q: { retry: { attempts: 5, retryIf } } },
      handlers: { q: handle },
    });
    await producer.enqueue('q', 1);
    await begun;
    runner.pause();

    await world.sql(`UPDATE sql_queue_jobs SET state = 'waiting', claim_id = 0`);
    await world.sql(`DELETE FROM sql_queue_claims`);
    // The heartbeat, and the check that it succeeds.
    await clock.untilSleeping(LEASE_MS / 3, 2);
    await clock.advance(LEASE_MS / 3);
    await clock.untilSleeping(LEASE_MS / 3, 2);
    answer();
    await events.until('lost');

    expect(retryIf).not.toHaveBeenCalled();
    expect(handle).not.toHaveBeenCalled();
  });

  it('leaves it to retryIf whether a handler that throws after its lease was lost is repeated', async () => {
    const { world, clock, answer, reading } = await open();
    const retryIf = vi.fn((error: unknown) => error instanceof Error);
    const { producer, runner, events } = await world.start({
      ...{ clock, ...reading.codec },
      queues: { q: { retry: { attempts: 5, retryIf } } },
      handlers: { q: async ({ signal }) => Promise.reject(await untilAborted(signal).then(() => new Error('late'))) },
    });
    answer();
    await producer.enqueue('q', 1);
    await events.until('started');
    runner.pause();

    await world.sql(`UPDATE sql_queue_jobs SET state = 'waiting', claim_id = 0`);
    await world.sql(`DELETE FROM sql_queue_claims`);
    await clock.untilSleeping(LEASE_MS / 3, 2);
    await clock.advance(LEASE_MS / 3);
    await events.until('lost');

    expect(retryIf.mock.calls.map(([error]) => error)).toMatchObject([{ message: 'late' }]);
  });

  it('takes no time from the others of a large batch', async () => {
    const { world, clock, reading, most } = await open({ slow: 0 });
    const { producer, runner, events } = await world.start({
      ...{ clock, ...reading['blob store'], autoStart: false },
      queues: { q: BRIEFLY },
      handlers: { q: { batch: 120, handle: () => undefined } },
    });
    await producer.enqueueMany(
      'q',
      Array.from({ length: 120 }, () => ({ payload: 'x'.repeat(2_000) })),
    );
    await runner.start();
    await events.untilCount(120, 'completed');

    expect(most()).toBeGreaterThan(1);
    expect(most()).toBeLessThanOrEqual(50);
  });
});
