import type { NewEdge } from '../../lib/job/flows/flow.js';
import type { Outcome } from '../../lib/job/outcome.js';
import { completionBatchOf, completionOf, finalBatchOf, newJob, outcomes } from '../support/jobs.js';
import { describeStores, type World } from '../support/stores.js';

const KEEP = () => 60_000;

describeStores('flows', (setup) => {
  it('store a job that waits for others as blocked, in no range that a claim reads', async () => {
    const world = await setup();

    const { jobIds } = await createChain(world, 3);

    expect((await world.claim({ limit: 10 })).jobs).toMatchObject([{ id: jobIds[0] }]);
    expect((await world.jobs.summarizeWork(['q'])).queues.get('q')?.waiting ?? false).toBe(false);
    expect(await world.jobs.countWaiting('q', 10)).toBe(0);
    expect(await statesOf(world)).toEqual(['active', 'blocked', 'blocked']);
  });

  it.each(['complete', 'dead', 'cancel'] as const)('record the end of a job with the outcome %s', async (kind) => {
    const world = await setup();
    const { jobIds } = await createChain(world, 2, 'run');

    await finish(world, kind);

    const [child] = await world.flows.children(jobIds[1]!, 0, 10);
    const state = { complete: 'completed', dead: 'dead', cancel: 'cancelled' }[kind];
    expect(child).toMatchObject({ id: jobIds[0], queue: 'q', name: 'default', state });
    expect((await world.flows.settle([jobIds[0]!], KEEP)).unblocked).toMatchObject([{ id: jobIds[1] }]);
  });

  it('keep the results and the errors of jobs that end together, also of one whose result could not be stored', async () => {
    const world = await setup();
    const { jobIds } = await create(
      world,
      6,
      Array.from({ length: 5 }, (_, n) => edge(5, n, 'run')),
    );
    const error = { name: 'ResultInvalidError', message: 'a cycle' };
    const ends: Outcome[] = [
      { kind: 'complete', result: '1' },
      { kind: 'complete', result: null, error },
      { kind: 'dead', error: { name: 'Error', message: 'no' } },
      { kind: 'complete', result: null },
      { kind: 'complete', result: '"two"' },
    ];
    const taken = await world.claim({ limit: 5 });
    const completions = taken.jobs.map((job, n) => completionOf(taken, job, ends[n]));

    await world.jobs.complete(completionBatchOf(completions));

    const children = await world.flows.children(jobIds[5]!, 0, 10);
    expect(children.map(({ state, result, error }) => [state, result, error?.message ?? null])).toEqual([
      ['completed', 1, null],
      ['completed', null, 'a cycle'],
      ['dead', null, 'no'],
      ['completed', null, null],
      ['completed', 'two', null],
    ]);
  });

  it.each(['is claimed', 'is removed'] as const)('go on after a job whose options cannot be read %s', async (how) => {
    const world = await setup();
    const { id, jobIds } = await createChain(world, 2, 'run');
    await world.sql('UPDATE sql_queue_jobs SET options = ? WHERE id = ?', ['{"flow":"no"}', jobIds[0]]);

    if (how === 'is removed') await world.admin.remove([jobIds[0]!]);
    else await finish(world, 'dead');
    const { unblocked } = await world.flows.settle([jobIds[0]!], KEEP);

    expect(unblocked).toMatchObject([{ id: jobIds[1] }]);
    await finish(world, 'complete');
    expect(await world.sql('SELECT state FROM sql_queue_edges WHERE job_id = ?', [-id])).toEqual([{ state: 'done' }]);
  });

  it.each(['release', 'retry'] as const)('keep a job blocked after the outcome %s', async (kind) => {
    const world = await setup();
    const { jobIds } = await createChain(world, 2, 'run');

    await finish(world, kind);
    const settled = await world.flows.settle(jobIds, KEEP);

    expect(settled).toEqual({ unblocked: [], cancelled: [] });
    expect(await statesOf(world)).toContain('blocked');
  });

  it('unblock a job once, after the last job that it needs has ended', async () => {
    const world = await setup();
    const { jobIds } = await create(world, 3, [edge(2, 0), edge(2, 1)]);
    const settleAfter = async () => {
      await finish(world, 'complete');
      return world.flows.settle(jobIds, KEEP);
    };

    const settled = [await settleAfter(), await settleAfter(), await world.flows.settle(jobIds, KEEP)];

    expect(settled.map(({ unblocked }) => unblocked.map(({ id }) => id))).toEqual([[], [jobIds[2]], []]);
    expect((await world.claim()).jobs).toMatchObject([{ id: jobIds[2], attempt: 1 }]);
  });

  it('cancel all jobs that need a failed job, directly or not', async () => {
    const world = await setup();
    const { jobIds } = await createChain(world, 5);

    await finish(world, 'dead');
    const { cancelled, unblocked } = await world.flows.settle([jobIds[0]!], KEEP);

    expect(cancelled.map(({ id }) => id)).toEqual(jobIds.slice(1));
    expect(unblocked).toEqual([]);
    expect(await world.admin.get(jobIds[4]!)).toMatchObject({
      state: 'cancelled',
      error: { code: 'PREREQUISITE_FAILED' },
    });
  });

  it('find with a sweep what a process that died has left behind', async () => {
    const world = await setup();
    const { jobIds } = await create(world, 4, [edge(1, 0), edge(2, 0, 'run'), edge(3, 1, 'run')]);
    await finish(world, 'dead');

    const before = await statesOf(world);
    const { cancelled, unblocked } = await world.flows.sweep(KEEP);

    expect(before).toEqual(['blocked', 'blocked', 'blocked']);
    expect(cancelled.map(({ id }) => id)).toEqual([jobIds[1]]);
    expect(new Set(unblocked.map(({ id }) => id))).toEqual(new Set([jobIds[2], jobIds[3]]));
  });

  it('sweep blocked jobs of other programs, and groups and priorities of any number', async () => {
    const world = await setup();
    const rows = Array.from({ length: 30 }, (_, n) => `('q', '${n}', 'blocked', 6, ${(n % 3) - 1}, '${'ab'[n % 2]}')`);
    await world.sql(
      `INSERT INTO sql_queue_jobs (queue, payload, state, runnable, priority, group_key) VALUES ${rows.join(', ')}`,
    );

    const { unblocked } = await world.flows.sweep(KEEP);

    expect(unblocked).toHaveLength(30);
  });

  it('change nothing twice if several processes settle at once', async () => {
    const world = await setup();
    const { jobIds } = await create(world, 5, [edge(1, 0), edge(2, 0), edge(3, 0), edge(4, 0)]);
    await finish(world, 'complete');
    const others = [await world.open(), await world.open(), await world.open()];

    const all = await Promise.all(others.map(({ flows }) => flows.settle([jobIds[0]!], KEEP)));

    const unblocked = all.flatMap((settled) => settled.unblocked.map(({ id }) => id));
    expect(unblocked.sort((a, b) => a - b)).toEqual(jobIds.slice(1));
  });

  it('fan out once for a claim, and not for a claim that was lost', async () => {
    const world = await setup();
    const [jobId] = await world.put({});
    const { id: claimId } = await world.claim();
    const children = [newJob({ queue: 'child' }), newJob({ queue: 'child' })];
    const fanOut = (claim: number, step: string) =>
      world.flows.fanOut({ jobId: jobId!, claimId: claim }, step, children, 'cancel');

    const [first, again] = [await fanOut(claimId, 'one'), await fanOut(claimId, 'one')];
    const lost = await fanOut(claimId + 1, 'two');

    expect([first!.ids.length, again!.ids, lost]).toEqual([2, [], undefined]);
    expect(again!.flow).toBe(first!.flow);
    expect(await world.admin.counts('child')).toMatchObject({ waiting: 2 });
    expect(await world.flows.mustWait(jobId!, 'one')).toBe(true);
  });

  it('let a job go on only if its step is known, and all its children have ended', async () => {
    const world = await setup();
    const [jobId] = await world.put({});
    const { id: claimId } = await world.claim();
    const mustWait = async () => [await world.flows.mustWait(jobId!, 'one'), await world.flows.mustWait(jobId!, 'two')];

    const before = await mustWait();
    await world.flows.fanOut({ jobId: jobId!, claimId }, 'one', [newJob({ queue: 'child' })], 'cancel');
    const running = await mustWait();
    await world.jobs.complete(finalBatchOf(await world.claim({ queue: 'child' })));

    expect([before, running, await mustWait()]).toEqual([
      [true, true],
      [true, true],
      [false, true],
    ]);
  });

  it.each([
    ['cancel', true],
    ['run', false],
    ['wait', true],
  ] as const)('block a job that has a failed child, by the rule %s: %s', async (onFailure, isBlocked) => {
    const world = await setup();
    const [jobId] = await world.put({});
    const { id: claimId } = await world.claim();
    await world.flows.fanOut({ jobId: jobId!, claimId }, 'one', [newJob({ queue: 'child' })], onFailure);

    await world.jobs.complete(finalBatchOf(await world.claim({ queue: 'child' }), outcomes.dead));

    expect(await world.flows.mustWait(jobId!, 'one')).toBe(isBlocked);
  });

  it('remember a fan-out without children, which puts its job into no flow', async () => {
    const world = await setup();
    const [jobId] = await world.put({});
    const taken = await world.claim();
    const fanOut = () => world.flows.fanOut({ jobId: jobId!, claimId: taken.id }, 'one', [], 'cancel');

    const stored = [await fanOut(), await fanOut()];
    await world.jobs.complete(finalBatchOf(taken, outcomes.retry));

    expect(stored).toEqual([{ ids: [] }, { ids: [] }]);
    expect(await world.flows.mustWait(jobId!, 'one')).toBe(false);
    expect((await world.claim()).jobs[0]!.overrides?.flow).toBeUndefined();
  });

  it('block a job until its children have ended, with its attempt', async () => {
    const world = await setup();
    const [jobId] = await world.put({});
    const taken = await world.claim();
    await world.flows.fanOut({ jobId: jobId!, claimId: taken.id }, 'one', [newJob({ queue: 'child' })], 'cancel');
    await world.jobs.complete(finalBatchOf(taken, { kind: 'block' }));
    const early = await world.flows.recheck([jobId!], KEEP);
    const child = await world.claim({ queue: 'child' });
    await world.jobs.complete(finalBatchOf(child, { kind: 'complete', result: '"yes"' }));

    const { unblocked } = await world.flows.settle([child.jobs[0]!.id], KEEP);

    expect(early.unblocked).toEqual([]);
    expect(unblocked).toMatchObject([{ id: jobId, queue: 'q' }]);
    expect((await world.claim()).jobs).toMatchObject([{ id: jobId, attempt: 1 }]);
    expect(await world.flows.children(jobId!, 0, 10)).toMatchObject([{ result: 'yes', state: 'completed' }]);
  });

  it('delay a job once, although it fans out afterwards', async () => {
    const world = await setup();
    const { jobIds } = await world.flows.create({
      jobs: [newJob(), newJob({ queue: 'later', isBlocked: true, delayMs: 1_000 })],
      edges: [edge(1, 0)],
    });
    await finish(world, 'complete');
    const first = await world.flows.settle([jobIds[0]!], KEEP);
    world.advance(1_001);
    await world.jobs.promote(10);
    const taken = await world.claim({ queue: 'later' });
    const owner = { jobId: jobIds[1]!, claimId: taken.id };
    const children = (await world.flows.fanOut(owner, 'one', [newJob()], 'cancel'))!;
    await world.jobs.complete(finalBatchOf(taken, { kind: 'block' }));
    await finish(world, 'complete');

    const second = await world.flows.settle(children.ids, KEEP);

    expect([first.unblocked, second.unblocked]).toMatchObject([[{ delayMs: 1_000 }], [{ delayMs: 0 }]]);
  });

  it('block a retried job again if a job that it needs is retried too', async () => {
    const world = await setup();
    const { id, jobIds } = await createChain(world, 2);
    await finish(world, 'dead');
    await world.flows.settle(jobIds, KEEP);

    await world.admin.retry(jobIds);
    const states = (await world.flows.read(id))!.jobs.map(({ state }) => state);
    await finish(world, 'complete');
    const { unblocked } = await world.flows.settle(jobIds, KEEP);

    expect(states).toEqual(['waiting', 'blocked']);
    expect(unblocked).toMatchObject([{ id: jobIds[1] }]);
  });

  it('let a job that is retried alone run, although the job that it needs stays dead', async () => {
    const world = await setup();
    const { jobIds } = await createChain(world, 2);
    await finish(world, 'dead');
    await world.flows.settle(jobIds, KEEP);

    await world.admin.retry([jobIds[1]!]);

    const taken = await world.claim();
    expect(taken.jobs).toMatchObject([{ id: jobIds[1] }]);
    // Nor does the dead job matter when the other one is blocked again.
    await world.flows.fanOut({ jobId: jobIds[1]!, claimId: taken.id }, 'one', [newJob()], 'cancel');
    await world.jobs.complete(finalBatchOf(taken, { kind: 'block' }));
    expect(await world.flows.recheck([jobIds[1]!], KEEP)).toEqual({ unblocked: [], cancelled: [] });
  });

  it.each([
    ['knows', 'done'],
    ['does not know', 'open'],
  ] as const)('let a job run again that has fanned out and died in a run that %s its flow', async (knowledge, edge) => {
    const world = await setup();
    const [jobId] = await world.put({ overrides: '{"timeoutMs":60000}' });
    const taken = await world.claim();
    const owner = { jobId: jobId!, claimId: taken.id };
    const { flow } = (await world.flows.fanOut(owner, 'one', [newJob({ queue: 'child' })], 'cancel'))!;
    const [job] = taken.jobs;
    const ending = knowledge === 'knows' ? { ...job!, overrides: { ...job!.overrides, flow: flow! } } : job!;
    await world.jobs.complete(completionBatchOf([completionOf(taken, ending, outcomes.dead)]));
    const endOfFlow = 'SELECT state FROM sql_queue_edges WHERE job_id = ?';
    const states = [(await world.sql<{ state: string }>(endOfFlow, [-flow!]))[0]!.state];
    const child = await world.claim({ queue: 'child' });
    await world.jobs.complete(finalBatchOf(child, outcomes.dead));

    await world.admin.retry([jobId!]);
    const again = await world.claim();
    const mustWait = await world.flows.mustWait(jobId!, 'one');
    await world.jobs.complete(finalBatchOf(again));
    states.push((await world.sql<{ state: string }>(endOfFlow, [-flow!]))[0]!.state);

    expect(again.jobs).toMatchObject([{ id: jobId, attempt: 1, overrides: { timeoutMs: 60_000, flow } }]);
    expect(mustWait).toBe(false);
    expect(states).toEqual([edge, 'done']);
  });

  it('read thousands of children in pages, in the order of their ids', async () => {
    const world = await setup();
    const edges = Array.from({ length: 1_200 }, (_, n) => edge(1_200, n));
    const { jobIds } = await create(world, 1_201, edges);
    const found: number[] = [];

    for (let after = 0, count = -1; found.length > count;) {
      count = found.length;
      found.push(...(await world.flows.children(jobIds[1_200]!, after, 500)).map(({ id }) => id));
      after = found.at(-1)!;
    }

    expect(found).toEqual(jobIds.slice(0, 1_200));
  });

  it('keep large results of many jobs that end together', async () => {
    const world = await setup();
    const { jobIds } = await create(
      world,
      61,
      Array.from({ length: 60 }, (_, n) => edge(60, n)),
    );
    const taken = await world.claim({ limit: 60 });
    const result = JSON.stringify('x'.repeat(200_000));
    const batch = finalBatchOf(taken);
    const completions = batch.completions.map((completion, n) => {
      return { ...completion, outcome: { kind: 'complete', result: n % 2 ? result : `${n}` } as const };
    });

    await world.jobs.complete({ ...batch, completions });

    const children = await world.flows.children(jobIds[60]!, 0, 100);
    expect(children.map(({ result: value }) => (typeof value === 'string' ? value.length : value))).toEqual(
      Array.from({ length: 60 }, (_, n) => (n % 2 ? 200_000 : n)),
    );
    expect((await world.flows.settle(jobIds.slice(0, 60), KEEP)).unblocked).toHaveLength(1);
  });

  it('are kept while one of their jobs exists, also without their last job', async () => {
    const world = await setup();
    const { id, jobIds } = await createChain(world, 3);
    await world.admin.remove([jobIds[2]!]);
    world.advance(3_600_001);

    await world.flows.prune(10);

    expect((await world.flows.sweep(KEEP)).unblocked).toEqual([]);
    expect(await statesOf(world)).toEqual(['waiting', 'blocked']);
    expect(await world.flows.read(id)).toMatchObject({ id });
  });

  it('are deleted after their jobs, and not before', async () => {
    const world = await setup();
    const { id, jobIds } = await createChain(world, 3);
    world.advance(3_600_001);
    const before = [await world.flows.prune(10), await world.flows.read(id)];
    await world.admin.remove(jobIds);
    const early = await world.flows.prune(10);
    world.advance(3_600_001);

    const pruned = await world.flows.prune(10);

    expect(before).toMatchObject([1, { id }]);
    expect([early, pruned, await world.flows.read(id)]).toEqual([0, 1, null]);
    expect(await world.sql('SELECT needs FROM sql_queue_edges')).toEqual([]);
  });

  it('skip jobs that a claim has when they are cancelled', async () => {
    const world = await setup();
    const { jobIds } = await create(world, 3, [edge(2, 0)]);
    await world.claim({ limit: 1 });

    const cancelled = await world.admin.cancelIdle(jobIds, KEEP);

    expect(cancelled.map(({ id }) => Number(id))).toEqual(jobIds.slice(1));
  });
});

function edge(job: number, needs: number, onFailure: NewEdge['onFailure'] = 'cancel'): NewEdge {
  return { job, needs, onFailure };
}

function create({ flows }: World, count: number, edges: readonly NewEdge[]) {
  const blocked = new Set(edges.map(({ job }) => job));
  const jobs = Array.from({ length: count }, (_, n) => newJob(blocked.has(n) ? { isBlocked: true } : {}));
  return flows.create({ jobs, edges });
}

function createChain(world: World, count: number, onFailure: NewEdge['onFailure'] = 'cancel') {
  return create(
    world,
    count,
    Array.from({ length: count - 1 }, (_, n) => edge(n + 1, n, onFailure)),
  );
}

/** Ends the first waiting job. */
async function finish(world: World, kind: keyof typeof outcomes): Promise<void> {
  const taken = await world.claim({ limit: 1 });
  expect(taken.jobs).toHaveLength(1);
  await world.jobs.complete(finalBatchOf(taken, outcomes[kind]));
}

async function statesOf({ sql }: World): Promise<string[]> {
  const rows = (await sql('SELECT state FROM sql_queue_jobs ORDER BY id')) as { state: string }[];
  return rows.map(({ state }) => state);
}
