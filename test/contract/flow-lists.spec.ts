import type { NewEdge, OnFailure } from '../../lib/job/flows/flow.js';
import type { FlowFilter } from '../../lib/job/flows/flow-record.js';
import { finalBatchOf, newJob, outcomes } from '../support/jobs.js';
import { readPages } from '../support/read-pages.js';
import { describeStoresOf, type World } from '../support/stores.js';

const KEEP = () => 60_000;
const NEWEST = { order: 'newest', limit: 10 } as const;
const NONE = { waiting: 0, scheduled: 0, active: 0, blocked: 0, completed: 0, dead: 0, cancelled: 0, removed: 0 };

describeStoresOf(['mysql', 'mariadb', 'sqlite'], 'the list of flows', (setup) => {
  it('has the state of each flow and the numbers of its jobs by state', async () => {
    const world = await setup();
    const running = await chain(world, 'running', 'cancel');
    const stuck = await chain(world, 'stuck', 'wait');
    const failed = await chain(world, 'failed', 'cancel');
    const recovered = await chain(world, 'recovered', 'run');
    const cancelled = await chain(world, 'cancelled', 'cancel');
    const completed = await chain(world, 'completed', 'cancel');
    await finish(world, 'stuck', 'dead');
    await finish(world, 'failed', 'dead');
    await finish(world, 'recovered', 'dead');
    await finish(world, 'recovered', 'complete');
    await world.admin.cancelIdle(cancelled.jobIds, KEEP);
    await finish(world, 'completed', 'complete');
    await world.claim({ queue: 'completed' });

    const { flows, next } = await world.flows.list(NEWEST, {});

    expect(next).toBeUndefined();
    expect(flows.map(({ id, state, counts }) => ({ id, state, counts }))).toEqual([
      { id: completed.id, state: 'running', counts: { ...NONE, completed: 1, active: 1 } },
      { id: cancelled.id, state: 'cancelled', counts: { ...NONE, cancelled: 2 } },
      { id: recovered.id, state: 'failed', counts: { ...NONE, dead: 1, completed: 1 } },
      { id: failed.id, state: 'failed', counts: { ...NONE, dead: 1, cancelled: 1 } },
      { id: stuck.id, state: 'stuck', counts: { ...NONE, dead: 1, blocked: 1 } },
      { id: running.id, state: 'running', counts: { ...NONE, waiting: 1, blocked: 1 } },
    ]);
    expect(flows[5]).toMatchObject({ queue: 'running', name: 'first', atLeast: false, queues: ['running'] });
    expect(flows[5]!.createdAt).toBeInstanceOf(Date);
    const idsOf = async (filter: FlowFilter) => (await world.flows.list(NEWEST, filter)).flows.map(({ id }) => id);
    expect(await idsOf({ state: 'running' })).toEqual([completed.id, running.id]);
    expect(await idsOf({ state: 'stuck' })).toEqual([stuck.id]);
    expect(await idsOf({ state: 'failed' })).toEqual([recovered.id, failed.id]);
    expect(await idsOf({ state: 'cancelled' })).toEqual([cancelled.id]);
    expect(await idsOf({ queue: 'stuck' })).toEqual([stuck.id]);
    expect(await idsOf({ queue: 'stuck', state: 'running' })).toEqual([]);
    expect(await world.admin.get(stuck.jobIds[0]!)).toMatchObject({ state: 'dead', flow: stuck.id });
    expect(await world.admin.get(running.jobIds[1]!)).toMatchObject({ state: 'blocked', flow: running.id });
  });

  it('has the states of jobs that were retried after their flow had gone on, and of jobs that are gone', async () => {
    const world = await setup();
    const { jobIds } = await chain(world, 'q', 'run');
    await finish(world, 'q', 'dead');
    await world.admin.retry([jobIds[0]!]);

    const { flows } = await world.flows.list(NEWEST, {});
    await world.admin.remove([...jobIds]);

    expect(flows).toMatchObject([{ state: 'running', counts: { ...NONE, waiting: 2 } }]);
    // The edge keeps the end that the second job has waited for.
    expect((await world.flows.list(NEWEST, {})).flows).toMatchObject([
      { state: 'failed', counts: { ...NONE, dead: 1, cancelled: 1 } },
    ]);
  });

  it.each(['oldest', 'newest'] as const)('has each flow once in its pages, the %s first', async (order) => {
    const world = await setup();
    const ids: number[] = [];
    for (let n = 0; n < 5; n++) ids.push((await chain(world, n % 2 ? 'odd' : 'even', 'cancel')).id);
    if (order === 'newest') ids.reverse();

    const pages = await readPages(
      async (page) => {
        const { flows, next } = await world.flows.list(page, {});
        return { jobs: flows, ...(next && { next }) };
      },
      { order, limit: 2 },
    );

    expect(pages.map((page) => page.map(({ id }) => id))).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  });

  it('counts a bounded part of a large flow, and finds the dead job that it is stuck at beyond that part', async () => {
    const world = await setup();
    const size = 1_200;
    const { id, jobIds } = await create(
      world,
      size + 1,
      Array.from({ length: size }, (_, needs) => ({ job: size, needs, onFailure: 'wait' })),
    );
    await world.sql(`UPDATE sql_queue_edges SET outcome = 'dead' WHERE needs = ${jobIds[size - 1]}`);
    const { id: long } = await create(
      world,
      40,
      Array.from({ length: 39 }, (_, n) => ({ job: n + 1, needs: n, onFailure: 'cancel' })),
    );

    const { flows } = await world.flows.list(NEWEST, {});

    expect(flows).toMatchObject([
      { id: long, state: 'running', atLeast: true, counts: { blocked: 30 } },
      { id, state: 'stuck', atLeast: true, counts: { ...NONE, waiting: 1_000, blocked: 1 }, queue: 'q' },
    ]);
    expect((await world.flows.list(NEWEST, { state: 'stuck' })).flows).toMatchObject([{ id }]);
  });
});

describeStoresOf(['mysql', 'mariadb', 'sqlite'], 'the relatives of a job', (setup) => {
  it('are the jobs that wait for it and those that it waits for, with their states', async () => {
    const world = await setup();
    const { jobIds } = await create(world, 4, [
      { job: 1, needs: 0, onFailure: 'run' },
      { job: 2, needs: 1, onFailure: 'run' },
      { job: 3, needs: 1, onFailure: 'run' },
    ]);
    const [first, middle, third, last] = jobIds as [number, number, number, number];
    await finish(world, 'q', 'dead');

    const found = await world.flows.relatives(middle, 10);
    await world.admin.remove([first, last]);

    const job = { queue: 'q', name: 'default' };
    expect(found).toEqual({
      parents: {
        jobs: [
          { id: third, ...job, state: 'blocked' },
          { id: last, ...job, state: 'blocked' },
        ],
        ...{ count: 2, atLeast: false },
      },
      children: { jobs: [{ id: first, ...job, state: 'dead' }], count: 1, atLeast: false },
    });
    expect(await world.flows.relatives(third, 10)).toMatchObject({ parents: { jobs: [], count: 0 } });
    expect(await world.flows.relatives(middle, 10)).toMatchObject({
      parents: { jobs: [{ id: third }, { id: last, ...job, state: 'removed' }] },
      children: { jobs: [{ id: first, state: 'dead' }] },
    });
  });

  it('are a bounded part of a large flow with the number of all', async () => {
    const world = await setup();
    const size = 1_200;
    const { jobIds } = await create(
      world,
      size + 1,
      Array.from({ length: size }, (_, needs) => ({ job: size, needs, onFailure: 'wait' })),
    );

    const { children, parents } = await world.flows.relatives(jobIds[size]!, 3);

    expect(children).toMatchObject({ count: 1_000, atLeast: true });
    expect(children.jobs.map(({ id }) => id)).toEqual(jobIds.slice(0, 3));
    expect(parents).toEqual({ jobs: [], count: 0, atLeast: false });
  });

  it('have up to the limit of many parents, without one whose queue is not known any more', async () => {
    const world = await setup();
    const parents = Array.from({ length: 30 }, (_, n) => ({ job: n + 1, needs: 0, onFailure: 'wait' as const }));
    const { jobIds } = await create(world, 31, parents);

    const some = await world.flows.relatives(jobIds[0]!, 3);
    await world.sql('DELETE FROM sql_queue_edges WHERE needs = ?', [jobIds[30]]);
    const all = await world.flows.relatives(jobIds[0]!, 100);

    expect(some.parents).toMatchObject({ jobs: jobIds.slice(1, 4).map((id) => ({ id, queue: 'q' })), count: 30 });
    expect(all.parents.jobs.map(({ id }) => id)).toEqual(jobIds.slice(1, 30));
    expect(all.parents.count).toBe(30);
  });
});

function chain(world: World, queue: string, onFailure: OnFailure) {
  const jobs = [newJob({ queue, name: 'first' }), newJob({ queue, name: 'second', isBlocked: true })];
  return world.flows.create({ jobs, edges: [{ job: 1, needs: 0, onFailure }] });
}

function create({ flows }: World, count: number, edges: readonly NewEdge[]) {
  const blocked = new Set(edges.map(({ job }) => job));
  const jobs = Array.from({ length: count }, (_, n) => newJob(blocked.has(n) ? { isBlocked: true } : {}));
  return flows.create({ jobs, edges });
}

async function finish(world: World, queue: string, kind: keyof typeof outcomes): Promise<void> {
  const taken = await world.claim({ queue, limit: 1 });
  await world.jobs.complete(finalBatchOf(taken, outcomes[kind], { retentionMs: 60_000 }));
  await world.flows.settle(
    taken.jobs.map(({ id }) => id),
    KEEP,
  );
}
