import type { Completion } from '../../lib/store/rows/completion.js';
import {
  finalBatchOf,
  completionBatchOf,
  idsOf,
  LEASE_MS,
  outcomes,
  rescueRules,
  completionOf,
  type Claim,
} from '../support/jobs.js';
import { describeStrategies, type World } from '../support/stores.js';

const jobIdsOf = (settlements: ReadonlySet<Completion>) => Array.from(settlements, ({ job }) => job.id);

describeStrategies('a worker without its lease', (setup) => {
  /** Creates two jobs in one claim. Another worker has claimed the first of them since. */
  async function lostFirst({ put, claim, jobs }: World) {
    await put({}, {});
    const lost = await claim({ workerId: 'lost', limit: 2 });
    const [first, second] = lost.jobs;
    await jobs.complete(completionBatchOf([completionOf(lost, first!, outcomes.release)]));
    const owner = await claim({ workerId: 'owner' });
    return { lost, owner, first: first!, second: second! };
  }

  it.each(Object.keys(outcomes) as (keyof typeof outcomes)[])('cannot %s a job', async (kind) => {
    const world = await setup();
    const { lost, owner, first } = await lostFirst(world);

    const { lost: answer } = await world.jobs.complete(completionBatchOf([completionOf(lost, first, outcomes[kind])]));

    expect(jobIdsOf(answer)).toEqual([first.id]);
    expect(await world.admin.get(first.id)).toMatchObject({ state: 'active', worker: 'owner', attempt: 1 });
    expect(idsOf(owner.jobs)).toEqual([first.id]);
  });

  it('still completes its own jobs in the same batch', async () => {
    const world = await setup();
    const { lost, first, second } = await lostFirst(world);

    const { lost: answer } = await world.jobs.complete(finalBatchOf(lost));

    expect(jobIdsOf(answer)).toEqual([first.id]);
    expect(await world.admin.get(second.id)).toMatchObject({ state: 'completed' });
    expect(await world.admin.get(first.id)).toMatchObject({ state: 'active', worker: 'owner' });
  });

  it('cannot complete a finished job', async () => {
    const world = await setup();
    const { lost, owner, first } = await lostFirst(world);
    await world.jobs.complete(finalBatchOf(owner, { kind: 'complete', result: '"owner"' }));

    const { lost: answer } = await world.jobs.complete(
      completionBatchOf([completionOf(lost, first, { kind: 'complete', result: '"lost"' })]),
    );

    expect(jobIdsOf(answer)).toEqual([first.id]);
    expect(await world.admin.get(first.id)).toMatchObject({ state: 'completed', result: 'owner' });
  });

  it('completes a job under its current claim, even beside an outcome under a lost claim', async () => {
    const { put, claim, jobs, advance, admin, sql } = await setup();
    const [id] = await put({});
    const lost = await claim();
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());
    const [old, current] = [finalBatchOf(lost, { kind: 'complete', result: '"old"' }), finalBatchOf(await claim())];

    const { lost: answer } = await jobs.complete({
      completions: [...old.completions, ...current.completions],
      claims: [...old.claims, ...current.claims].sort((a, b) => a.id - b.id),
      mayHaveCommitted: false,
      mayBeRescued: new Set(),
    });

    expect([...answer]).toEqual(old.completions);
    expect(await admin.get(id!)).toMatchObject({ state: 'completed', attempt: 2, result: null });
    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('cannot complete a job that was rescued', async () => {
    const { put, claim, jobs, advance, admin } = await setup();
    const [id] = await put({});
    const lost = await claim();
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    const { lost: answer } = await jobs.complete(finalBatchOf(lost));

    expect(jobIdsOf(answer)).toEqual([id]);
    expect(await admin.get(id!)).toMatchObject({ state: 'waiting' });
  });

  it('still completes a job with an expired lease that is not rescued yet', async () => {
    const { put, claim, jobs, advance, admin } = await setup();
    const [id] = await put({});
    const late = await claim();

    advance(LEASE_MS + 1);

    expect([...(await jobs.complete(finalBatchOf(late))).lost]).toEqual([]);
    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
  });

  it('cannot complete a job twice', async () => {
    const { put, claim, jobs } = await setup();
    await put({});
    const taken = await claim();
    await jobs.complete(finalBatchOf(taken, outcomes.release));

    expect(jobIdsOf((await jobs.complete(finalBatchOf(taken))).lost)).toEqual(idsOf(taken.jobs));
  });
});

describeStrategies('a repeated completion batch', (setup) => {
  const again = (claim: Claim, outcome: (typeof outcomes)[keyof typeof outcomes]) => ({
    ...finalBatchOf(claim, outcome),
    mayHaveCommitted: true,
  });

  it.each(Object.keys(outcomes) as (keyof typeof outcomes)[])(
    'is applied once if the first batch with %s was committed',
    async (kind) => {
      const { put, claim, jobs, admin } = await setup();
      const [id] = await put({});
      const taken = await claim();
      await jobs.complete(finalBatchOf(taken, outcomes[kind]));
      const before = await admin.get(id!);

      const { lost } = await jobs.complete(again(taken, outcomes[kind]));

      expect([...lost]).toEqual([]);
      expect(await admin.get(id!)).toEqual(before);
    },
  );

  it('is applied if the first batch was not committed', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    const { lost } = await jobs.complete(again(await claim(), outcomes.complete));

    expect([...lost]).toEqual([]);
    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
  });

  it('returns the jobs that were lost meanwhile', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    const taken = await claim();
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    const { lost } = await jobs.complete(again(taken, outcomes.complete));

    expect(jobIdsOf(lost)).toEqual(idsOf(taken.jobs));
  });

  it('returns retried jobs as lost if their lease may have expired, since they may have been rescued instead', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    const taken = await claim();
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    const { lost } = await jobs.complete({ ...again(taken, outcomes.retry), mayBeRescued: new Set([taken.id]) });

    expect(jobIdsOf(lost)).toEqual(idsOf(taken.jobs));
  });

  it('returns the jobs that another worker has finished meanwhile', async () => {
    const { put, claim, jobs, advance, admin } = await setup();
    const [id] = await put({});
    const taken = await claim({ workerId: 'first' });
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());
    await jobs.complete(finalBatchOf(await claim({ workerId: 'second' })));

    const { lost } = await jobs.complete(again(taken, outcomes.complete));

    expect(jobIdsOf(lost)).toEqual(idsOf(taken.jobs));
    expect(await admin.get(id!)).toMatchObject({ state: 'completed', worker: 'second', attempt: 2 });
  });

  it('returns the jobs that were lost before it, even if the claim still owns others', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put({}, {});
    const taken = await claim({ limit: 2 });
    await jobs.complete(completionBatchOf([completionOf(taken, taken.jobs[0]!, outcomes.release)]));

    const { lost } = await jobs.complete(again(taken, outcomes.snooze));

    expect(jobIdsOf(lost)).toEqual([taken.jobs[0]!.id]);
    expect(await admin.get(taken.jobs[0]!.id)).toMatchObject({ state: 'waiting' });
  });
});
