import { finalBatchOf, LEASE_MS, outcomes } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';

const IDLE_QUEUE = {
  ...{ waiting: false, paused: false, isLimited: false, isResting: false, hasGroups: false },
  ...{ concurrency: null, isEnabled: true },
};

describeStores('promote()', (setup) => {
  it('makes due jobs waiting, and no others', async () => {
    const { put, jobs, admin, advance } = await setup();
    const [due, later] = await put({ delayMs: 1_000 }, { delayMs: 60_000 });

    advance(1_001);
    const { length: promoted } = await jobs.promote(100);

    expect(promoted).toBe(1);
    expect(await admin.get(due!)).toMatchObject({ state: 'waiting', runAt: null });
    expect(await admin.get(later!)).toMatchObject({ state: 'scheduled' });
  });

  it('promotes at most the given number of jobs, those with the earliest due time first', async () => {
    const { put, jobs, advance, claim } = await setup();
    const [, second, first] = await put({ delayMs: 3_000 }, { delayMs: 2_000 }, { delayMs: 1_000 });

    advance(10_000);
    const { length: promoted } = await jobs.promote(2);

    expect(promoted).toBe(2);
    expect((await claim({ limit: 9 })).jobs.map(({ id }) => id)).toEqual([second, first]);
  });

  it('promotes each job once if several stores promote at once', async () => {
    const { put, jobs, advance, open } = await setup();
    await put(...Array.from({ length: 50 }, () => ({ delayMs: 1_000 })));
    const other = await open();

    advance(2_000);
    const promoted = await Promise.all([jobs, other.jobs, jobs, other.jobs].map((store) => store.promote(100)));

    expect(promoted.flat()).toHaveLength(50);
  });

  it('promotes a job at the given time', async () => {
    const { put, jobs, admin } = await setup();
    const [past, future] = await put({ runAtMs: Date.now() - 3_600_000 }, { runAtMs: Date.now() + 3_600_000 });

    await jobs.promote(100);

    expect(await admin.get(past!)).toMatchObject({ state: 'waiting' });
    expect(await admin.get(future!)).toMatchObject({ state: 'scheduled' });
  });
});

describeStores('prune()', (setup) => {
  it('deletes finished jobs past their retention, and no others', async () => {
    const { put, claim, jobs, admin, advance } = await setup();
    const [short, long] = await put({}, {});
    await jobs.complete(finalBatchOf(await claim(), outcomes.complete, { retentionMs: 1_000 }));
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead, { retentionMs: 60_000 }));

    advance(1_001);
    const pruned = await jobs.prune(100);

    expect(pruned).toBe(1);
    expect(await admin.get(short!)).toBeNull();
    expect(await admin.get(long!)).toMatchObject({ state: 'dead' });
  });

  it('deletes at most the given number of jobs', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({}, {}, {});
    await jobs.complete(finalBatchOf(await claim({ limit: 3 }), outcomes.complete, { retentionMs: 0 }));

    advance(1);

    expect([await jobs.prune(2), await jobs.prune(2), await jobs.prune(2)]).toEqual([2, 1, 0]);
  });
});

describeStores('a work summary', (setup) => {
  async function setupQueues() {
    const world = await setup();
    await world.workers.register({
      id: 'w',
      host: 'h',
      pid: 1,
      queues: new Map([
        ['a', 1],
        ['b', 1],
        ['c', 1],
      ]),
    });
    return world;
  }

  it('reports the queues with jobs to claim', async () => {
    const { put, jobs, claim } = await setupQueues();
    await put({ queue: 'a' }, { queue: 'b' }, { queue: 'c', delayMs: 60_000 });
    await claim({ queue: 'b' });

    const { queues } = await jobs.summarizeWork(['a', 'b', 'c']);

    expect(Object.fromEntries([...queues].map(([name, { waiting }]) => [name, waiting]))).toEqual({
      a: true,
      b: false,
      c: false,
    });
  });

  it('reports queues whose last claim was full as waiting, without a read', async () => {
    const { jobs } = await setupQueues();

    const { queues } = await jobs.summarizeWork(['a', 'b', 'c'], [], ['a', 'c', 'other']);

    expect(Object.fromEntries([...queues].map(([name, { waiting }]) => [name, waiting]))).toEqual({
      a: true,
      b: false,
      c: true,
    });
  });

  it('reports the paused queues', async () => {
    const { jobs, admin } = await setupQueues();
    await admin.setPaused(['b'], true);

    const { queues } = await jobs.summarizeWork(['a', 'b']);

    expect([...queues]).toEqual([
      ['a', { ...IDLE_QUEUE }],
      ['b', { ...IDLE_QUEUE, paused: true }],
    ]);
  });

  it('reports when the next job is due and the next lease expires', async () => {
    const { put, jobs, claim, advance } = await setupQueues();
    await put({ queue: 'a' }, { queue: 'a', delayMs: 60_000 });
    await claim({ queue: 'a' });

    const before = await jobs.summarizeWork(['b']);
    advance(100_000);
    const after = await jobs.summarizeWork(['b']);

    expect(before.dueInMs! - before.leaseExpiryInMs!).toBeGreaterThan(60_000 - LEASE_MS - 5_000);
    expect(before.dueInMs).toBeLessThanOrEqual(60_000);
    expect(before.leaseExpiryInMs).toBeLessThanOrEqual(LEASE_MS);
    expect([after.dueInMs, after.leaseExpiryInMs]).toEqual([0, 0]);
  });

  it('reports neither a due job nor a lease of an idle system', async () => {
    const { jobs } = await setupQueues();

    expect(await jobs.summarizeWork(['a'])).toMatchObject({ dueInMs: null, leaseExpiryInMs: null });
  });

  it('accepts an empty list of queues', async () => {
    const { jobs } = await setup();

    expect((await jobs.summarizeWork([])).queues.size).toBe(0);
  });
});
