import { limitPages } from '../../lib/common/lists.js';
import { newJob } from '../support/jobs.js';
import { readPages } from '../support/read-pages.js';
import { describeStores } from '../support/stores.js';

const QUEUES = ['a', 'b', 'c', 'd', 'e', 'f'];

describeStores('among more queues than a statement names', (setup) => {
  beforeEach(() => limitPages(2));
  afterEach(() => limitPages(Infinity));

  it.each(['oldest', 'newest'] as const)('a list of all queues has each job once, %s first', async (order) => {
    const world = await setup();
    const delays = [5, 1, 5, 3, 5, 1, 4, 5, 2, 5, 5, 3];
    const ids = await world.put(...delays.map((minutes, n) => ({ queue: QUEUES[n % 6]!, delayMs: minutes * 60_000 })));
    await world.sql(`UPDATE sql_queue_jobs SET run_at = 1000 * ROUND(run_at / 60000)`);
    const dead = await finishedJobs(world, 9);

    const scheduled = await listed(world, 'scheduled', order);
    const finished = await listed(world, 'dead', order);

    const byTime = (a: number, b: number) => delays[ids.indexOf(a)]! - delays[ids.indexOf(b)]!;
    expect([...scheduled].sort((a, b) => a - b)).toEqual(ids);
    expect(scheduled.map((id) => delays[ids.indexOf(id)])).toEqual(
      [...scheduled]
        .sort((a, b) => (order === 'oldest' ? byTime(a, b) : byTime(b, a)))
        .map((id) => delays[ids.indexOf(id)]),
    );
    expect(finished).toEqual(order === 'oldest' ? dead : [...dead].reverse());
  });

  it('a promotion makes the due jobs of all queues waiting, and no others', async () => {
    const { put, jobs, admin } = await setup();
    const due = await put(...['a', 'd', 'f'].map((queue) => ({ queue, runAtMs: 1 })));
    const later = await put(...QUEUES.map((queue) => ({ queue, delayMs: 60_000 })));
    await put(...QUEUES.map((queue) => ({ queue })));

    const promoted = await jobs.promote(100);

    expect(promoted.map(({ id }) => id)).toEqual(due);
    for (const id of due) expect(await admin.get(id)).toMatchObject({ state: 'waiting' });
    for (const id of later) expect(await admin.get(id)).toMatchObject({ state: 'scheduled' });
  });

  it('a list of a rare state names only the queues that can have its next jobs', async () => {
    const world = await setup();
    await world.put(...QUEUES.map((queue) => ({ queue })));
    const [first] = await finishedJobs(world, 6);

    const { jobs, next } = await world.admin.find({ state: 'dead' }, { order: 'oldest', limit: 1 });

    expect(jobs.map(({ id }) => id)).toEqual([first]);
    expect(next).toEqual([first]);
  });

  it.each([2, 4, 5])('a sample of the statistics has the same numbers (pages of %i rows)', async (rows) => {
    const world = await setup();
    limitPages(Infinity);
    await world.put(
      ...QUEUES.slice(0, 5).flatMap((queue, n) => Array.from({ length: n }, () => ({ queue }))),
      ...[
        { queue: 'a', delayMs: 60_000 },
        { queue: 'f', group: 'g' },
        { queue: 'f', group: 'h' },
      ],
      ...[{ queue: 'b', priority: -9 }, { queue: 'b' }],
    );
    await finishedJobs(world, 9);
    await world.claim({ queue: 'b' });
    await world.claim({ queue: 'c' });
    const before = await sampled(world);

    limitPages(rows);
    const after = await sampled(world);

    expect(after).toEqual(before);
    expect(after.map(({ dead }) => dead.value)).toEqual([2, 2, 2, 1, 1, 1]);
  });

  it('a pause and its end change each queue, with and without a row', async () => {
    const world = await setup();
    await world.admin.setPaused(['c', 'f'], true);
    await world.put(...QUEUES.map((queue) => ({ queue })));

    await world.admin.setPaused(QUEUES, true);
    const paused = await world.admin.queues();
    await world.admin.setPaused(QUEUES, false);
    const resumed = await world.admin.queues();

    expect(paused.map(({ queue, paused: isPaused }) => [queue, isPaused])).toEqual(
      QUEUES.map((queue) => [queue, true]),
    );
    expect(resumed.filter(({ paused: isPaused }) => isPaused)).toEqual([]);
  });
});

type World = Awaited<ReturnType<Parameters<Parameters<typeof describeStores>[1]>[0]>>;

/** The statistics, without times, which pass between two samples. */
async function sampled({ stats }: World) {
  const { queues } = await stats.sample();
  return queues.map(({ oldestWaitingMs, nextDueInMs, ...counts }) => {
    return { ...counts, waits: oldestWaitingMs !== null, isDue: nextDueInMs !== null };
  });
}

/** Dead jobs, in the history of one queue after the other. */
async function finishedJobs(world: World, count: number): Promise<number[]> {
  const ids = await world.put(...Array.from({ length: count }, () => newJob({ queue: 'done' })));
  await world.sql(`DELETE FROM sql_queue_jobs WHERE queue = 'done'`);
  for (const [n, id] of ids.entries()) {
    await world.sql(`INSERT INTO sql_queue_history
      (id, queue, name, state, priority, attempt, created_at, finished_at, expires_at, payload)
      VALUES (${id}, '${QUEUES[n % 6]}', 'n', 'dead', 0, 1, 0, 0, 4000000000000, '1')`);
  }
  return ids;
}

async function listed({ admin }: World, state: 'scheduled' | 'dead', order: 'oldest' | 'newest'): Promise<number[]> {
  const pages = await readPages((page) => admin.find({ state }, page), { order, limit: 2 });
  return pages.flat().map(({ id }) => id);
}
