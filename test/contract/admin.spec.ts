import { finalBatchOf, completionBatchOf, outcomes, completionOf } from '../support/jobs.js';
import type { JobRecord } from '../../lib/job/job.js';
import type { JobFilter } from '../../lib/store/admin/admin-store.js';
import { readPages } from '../support/read-pages.js';
import { describeStores, type World } from '../support/stores.js';

const forever = () => 60_000;

/** Creates one job in each state. */
async function oneOfEach({ put, claim, jobs, admin }: World) {
  const scheduled = await put({ delayMs: 60_000 });
  for (const outcome of [outcomes.complete, outcomes.dead]) {
    await put({});
    await jobs.complete(finalBatchOf(await claim(), outcome));
  }
  const cancelled = await put({});
  await admin.cancel(cancelled[0]!, forever);
  const active = await put({});
  await claim();
  const waiting = await put({});
  return { scheduled: scheduled[0]!, cancelled: cancelled[0]!, active: active[0]!, waiting: waiting[0]! };
}

describeStores('counts()', (setup) => {
  const none = {
    ...{ scheduled: 0, waiting: 0, staged: 0, prefetched: 0, active: 0, blocked: 0 },
    ...{ completed: 0, dead: 0, cancelled: 0 },
  };

  it('counts the jobs in each state', async () => {
    const world = await setup();
    await oneOfEach(world);
    const one = { ...none, scheduled: 1, waiting: 1, active: 1, completed: 1, dead: 1, cancelled: 1 };

    expect(await world.admin.counts()).toEqual(one);
    expect(await world.admin.counts('q')).toEqual(one);
    expect(await world.admin.counts('other')).toEqual(none);
  });

  it('counts prefetched jobs apart from jobs that may run', async () => {
    const { put, claim, admin } = await setup();
    await put(...Array.from({ length: 7 }, () => ({})));
    await claim({ limit: 4, startLimit: 1 });
    await claim({ limit: 2, startLimit: 2 });

    expect(await admin.counts()).toEqual({ ...none, active: 3, prefetched: 3, waiting: 1 });
    expect(await admin.counts('q')).toEqual({ ...none, active: 3, prefetched: 3, waiting: 1 });
  });

  it('counts a job by its current claim, and not by an earlier one', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put({}, {});
    const first = await claim({ limit: 2 });
    await jobs.complete(completionBatchOf([completionOf(first, first.jobs[0]!, outcomes.release)]));
    await claim({ limit: 1, startLimit: 0 });

    expect(await admin.counts()).toEqual({ ...none, active: 1, prefetched: 1 });
  });

  it('counts jobs in a stage apart from jobs that wait for workers', async () => {
    const { put, claim, consumer, jobs, admin, advance } = await setup();
    const ids = await put({}, {}, {}, {});
    const assignee = { workerId: 'w', owner: 'ann', leaseMs: null };
    for (const id of ids.slice(0, 3)) {
      await consumer.assign(id, assignee, 'anyone', () => ({ maxAttempts: 5 }));
      await consumer.move(id, { owner: 'ann' }, 'review');
    }
    await consumer.assign(ids[0]!, assignee, 'anyone', () => ({ maxAttempts: 5 }));

    expect(await admin.counts()).toEqual({ ...none, waiting: 1, staged: 2, active: 1 });
    await consumer.end(ids[0]!, { owner: 'ann' }, () => ({ outcome: outcomes.snooze, retentionMs: false }));
    expect(await admin.counts('q')).toEqual({ ...none, waiting: 1, staged: 2, scheduled: 1 });
    advance(120_000);
    await jobs.promote(10);
    await claim();
    expect(await admin.counts('q')).toEqual({ ...none, staged: 3, active: 1 });
  });

  it('counts a job once after it moved from a shared claim to its own', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put(...Array.from({ length: 1_001 }, () => ({})));
    const { id: from, jobs: claimed } = await claim({ claimId: 1, limit: 1_001 });
    await jobs.handOff({ job: claimed[0]!, workerId: 'worker-1', from, to: 2, leaseMs: 60_000 });

    expect(await admin.counts()).toEqual({ ...none, active: 1_001 });
  });

  it('counts a retried job as waiting', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put({}, {});
    await jobs.complete(finalBatchOf(await claim(), outcomes.retry));

    expect(await admin.counts()).toEqual({ ...none, waiting: 2 });
  });

  it('counts thousands of active jobs', async () => {
    const { put, claim, admin } = await setup();
    await put(...Array.from({ length: 1_500 }, () => ({})));
    await claim({ limit: 700 });
    await claim({ limit: 700 });

    expect(await admin.counts()).toEqual({ ...none, waiting: 100, active: 1_400 });
  });
});

describeStores('get()', (setup) => {
  it('returns a job in any state', async () => {
    const world = await setup();
    const ids = await oneOfEach(world);

    for (const [state, id] of Object.entries(ids)) expect(await world.admin.get(id)).toMatchObject({ id, state });
  });

  it('returns null for an unknown id', async () => {
    const { admin } = await setup();

    expect(await admin.get(4_711)).toBeNull();
  });

  it('returns the worker and the start time of an active job', async () => {
    const { put, claim, admin } = await setup();
    const [id] = await put({});

    await claim({ workerId: 'me' });

    const record = (await admin.get(id!))!;
    expect(record.worker).toBe('me');
    expect(record.startedAt!.getTime()).toBeGreaterThanOrEqual(record.createdAt.getTime());
  });

  it('returns times by the clock of the database', async () => {
    const { put, admin } = await setup();
    const [id] = await put({ delayMs: 3_600_000 });

    const record = (await admin.get(id!))!;

    expect(record.runAt!.getTime() - record.createdAt.getTime()).toBe(3_600_000);
    expect(Math.abs(record.createdAt.getTime() - Date.now())).toBeLessThan(60_000);
  });
});

describeStores('find()', (setup) => {
  const all = { order: 'oldest', limit: 100 } as const;

  it('finds jobs by queue, name and state', async () => {
    const world = await setup();
    const { waiting } = await oneOfEach(world);
    const [named] = await world.put({ name: 'welcome' });
    const [other] = await world.put({ queue: 'other' });

    const find = async (filter: object) => (await world.admin.find(filter, all)).jobs.map(({ id }) => id);

    expect(await find({ state: 'waiting', queue: 'q' })).toEqual([waiting, named]);
    expect(await find({ name: 'welcome' })).toEqual([named]);
    expect(await find({ queue: 'other' })).toEqual([other]);
    expect(await find({ state: 'dead' })).toHaveLength(1);
    expect(await find({})).toHaveLength(8);
  });

  it('pages through live and finished jobs in the order of their ids', async () => {
    const { put, claim, jobs, admin } = await setup();
    const ids = await put(...Array.from({ length: 9 }, (_, n) => ({ priority: n % 3 })));
    await jobs.complete(finalBatchOf(await claim({ limit: 4 })));

    const oldest = await readPages((page) => admin.find({}, page), { order: 'oldest', limit: 4 });
    const newest = await readPages((page) => admin.find({}, page), { order: 'newest', limit: 4 });

    expect(oldest.map((jobs) => jobs.map(({ id }) => id))).toEqual([ids.slice(0, 4), ids.slice(4, 8), ids.slice(8)]);
    expect(newest.flat().map(({ id }) => id)).toEqual([...ids].reverse());
  });

  it.each(['oldest', 'newest'] as const)('pages through each state, %s first', async (order) => {
    const world = await setup();
    const { put, claim, consumer, admin } = world;
    const queues = ['q', 'r', 's'];
    for (const queue of queues) {
      await put(...Array.from({ length: 6 }, (_, n) => ({ queue, priority: (n % 3) - 1, name: `n${n % 2}` })));
      await put(...Array.from({ length: 5 }, (_, n) => ({ queue, delayMs: 90_000 - 10_000 * (n >> 1), priority: -n })));
      const taken = await claim({ queue, limit: 2 });
      await claim({ queue, limit: 2 });
      await world.jobs.complete(finalBatchOf(taken, outcomes.dead));
    }
    const [staged] = await put({ queue: 'q' });
    await consumer.assign(staged!, { workerId: 'w', owner: 'ann', leaseMs: null }, 'anyone', () => ({
      maxAttempts: 1,
    }));
    await consumer.move(staged!, { owner: 'ann' }, 'review');
    await world.sql(`INSERT INTO sql_queue_jobs (queue, payload, run_at) VALUES ('r', '1', 4000000000000)`);
    const all = (await admin.find({}, { order, limit: 1_000 })).jobs;
    const filters: JobFilter[] = [undefined, ...queues].flatMap((queue) => [
      ...[undefined, 'n1'].map((name) => ({ ...(queue && { queue }), ...(name && { name }) })),
      ...(['waiting', 'active', 'scheduled', 'dead'] as const).map((state) => ({ state, ...(queue && { queue }) })),
    ]);

    for (const filter of filters) {
      const expected = all.filter((job) => Object.entries(filter).every(([key, value]) => job[key as 'id'] === value));
      if (filter.state === 'scheduled') {
        const place = ({ runAt, priority, id }: JobRecord) => runAt!.getTime() * 1e6 + priority * 1e3 + id;
        expected.sort((a, b) => (order === 'oldest' ? 1 : -1) * (place(a) - place(b)));
      }
      const found = await readPages((page) => admin.find(filter, page), { order, limit: 2 });
      const ids = await readPages((page) => admin.findIds(filter, page), { order, limit: 3 });

      expect([filter, found.flat().map(({ id }) => id)]).toEqual([filter, expected.map(({ id }) => id)]);
      expect(ids.flat()).toEqual(expected.map(({ id }) => id));
    }
    expect(all).toHaveLength(35);
  });

  it('reads a bounded number of jobs per page, and returns the position of the next page', async () => {
    const { put, admin } = await setup();
    const ids = await put(...Array.from({ length: 1_500 }, () => ({})));
    const [last] = await put({ name: 'rare' });

    const first = await admin.find({ name: 'rare' }, { order: 'oldest', limit: 10 });
    const second = await admin.find({ name: 'rare' }, { order: 'oldest', limit: 10, after: first.next! });

    expect(first).toEqual({ jobs: [], next: [ids[999]] });
    expect(second).toMatchObject({ jobs: [{ id: last }] });
    expect(second.next).toBeUndefined();
  });
});
