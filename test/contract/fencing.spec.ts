import type { Settlement } from '../../lib/store/job-store.js';
import { endOf, flushOf, idsOf, LEASE_MS, outcomes, rescueRules, settled, type Claim } from '../support/jobs.js';
import { describeStrategies, type World } from '../support/stores.js';

const jobIdsOf = (settlements: ReadonlySet<Settlement>) => Array.from(settlements, ({ job }) => job.id);

describeStrategies('a worker that has lost its lease', (setup) => {
  /** Two jobs of one claim, the first of which has gone on to another worker. */
  async function lostFirst({ put, claim, jobs }: World) {
    await put({}, {});
    const lost = await claim({ workerId: 'lost', limit: 2 });
    const [first, second] = lost.jobs;
    await jobs.settle(flushOf([settled(lost, first!, outcomes.release)]));
    const owner = await claim({ workerId: 'owner' });
    return { lost, owner, first: first!, second: second! };
  }

  it.each(Object.keys(outcomes) as (keyof typeof outcomes)[])('cannot %s a job', async (kind) => {
    const world = await setup();
    const { lost, owner, first } = await lostFirst(world);

    const answer = await world.jobs.settle(flushOf([settled(lost, first, outcomes[kind])]));

    expect(jobIdsOf(answer)).toEqual([first.id]);
    expect(await world.admin.get(first.id)).toMatchObject({ state: 'active', worker: 'owner', attempt: 1 });
    expect(idsOf(owner.jobs)).toEqual([first.id]);
  });

  it('still settles the jobs of the same flush that are its own', async () => {
    const world = await setup();
    const { lost, first, second } = await lostFirst(world);

    const answer = await world.jobs.settle(endOf(lost));

    expect(jobIdsOf(answer)).toEqual([first.id]);
    expect(await world.admin.get(second.id)).toMatchObject({ state: 'completed' });
    expect(await world.admin.get(first.id)).toMatchObject({ state: 'active', worker: 'owner' });
  });

  it('cannot complete a job that is finished already', async () => {
    const world = await setup();
    const { lost, owner, first } = await lostFirst(world);
    await world.jobs.settle(endOf(owner, { kind: 'complete', result: '"owner"' }));

    const answer = await world.jobs.settle(flushOf([settled(lost, first, { kind: 'complete', result: '"lost"' })]));

    expect(jobIdsOf(answer)).toEqual([first.id]);
    expect(await world.admin.get(first.id)).toMatchObject({ state: 'completed', result: 'owner' });
  });

  it('settles a job under the claim that holds, also beside an outcome under the one that is lost', async () => {
    const { put, claim, jobs, advance, admin, sql } = await setup();
    const [id] = await put({});
    const lost = await claim();
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());
    const [old, current] = [endOf(lost, { kind: 'complete', result: '"old"' }), endOf(await claim())];

    const answer = await jobs.settle({
      settlements: [...old.settlements, ...current.settlements],
      claims: [...old.claims, ...current.claims].sort((a, b) => a.id - b.id),
      again: false,
      mayBeTaken: new Set(),
    });

    expect([...answer]).toEqual(old.settlements);
    expect(await admin.get(id!)).toMatchObject({ state: 'completed', attempt: 2, result: null });
    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('cannot complete a job that was rescued from it', async () => {
    const { put, claim, jobs, advance, admin } = await setup();
    const [id] = await put({});
    const lost = await claim();
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    const answer = await jobs.settle(endOf(lost));

    expect(jobIdsOf(answer)).toEqual([id]);
    expect(await admin.get(id!)).toMatchObject({ state: 'waiting' });
  });

  it('still completes a job that nobody has rescued yet', async () => {
    const { put, claim, jobs, advance, admin } = await setup();
    const [id] = await put({});
    const late = await claim();

    advance(LEASE_MS + 1);

    expect([...(await jobs.settle(endOf(late)))]).toEqual([]);
    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
  });

  it('cannot settle one job twice', async () => {
    const { put, claim, jobs } = await setup();
    await put({});
    const taken = await claim();
    await jobs.settle(endOf(taken, outcomes.release));

    expect(jobIdsOf(await jobs.settle(endOf(taken)))).toEqual(idsOf(taken.jobs));
  });
});

describeStrategies('a flush whose answer was lost', (setup) => {
  const again = (claim: Claim, outcome: (typeof outcomes)[keyof typeof outcomes]) => ({
    ...endOf(claim, outcome),
    again: true,
  });

  it.each(Object.keys(outcomes) as (keyof typeof outcomes)[])('is done once when %s is said again', async (kind) => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    const taken = await claim();
    await jobs.settle(endOf(taken, outcomes[kind]));
    const before = await admin.get(id!);

    const lost = await jobs.settle(again(taken, outcomes[kind]));

    expect([...lost]).toEqual([]);
    expect(await admin.get(id!)).toEqual(before);
  });

  it('is done now where it had not been done', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    const lost = await jobs.settle(again(await claim(), outcomes.complete));

    expect([...lost]).toEqual([]);
    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
  });

  it('answers the jobs that were lost meanwhile', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    const taken = await claim();
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    const lost = await jobs.settle(again(taken, outcomes.complete));

    expect(jobIdsOf(lost)).toEqual(idsOf(taken.jobs));
  });

  it('answers the jobs that were to go back and may have been rescued instead, as their lease may have lapsed', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    const taken = await claim();
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    const lost = await jobs.settle({ ...again(taken, outcomes.retry), mayBeTaken: new Set([taken.id]) });

    expect(jobIdsOf(lost)).toEqual(idsOf(taken.jobs));
  });

  it('answers the jobs that another worker has finished meanwhile', async () => {
    const { put, claim, jobs, advance, admin } = await setup();
    const [id] = await put({});
    const taken = await claim({ workerId: 'first' });
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());
    await jobs.settle(endOf(await claim({ workerId: 'second' })));

    const lost = await jobs.settle(again(taken, outcomes.complete));

    expect(jobIdsOf(lost)).toEqual(idsOf(taken.jobs));
    expect(await admin.get(id!)).toMatchObject({ state: 'completed', worker: 'second', attempt: 2 });
  });

  it('answers the jobs that were lost before it, where others of it still stand', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put({}, {});
    const taken = await claim({ limit: 2 });
    await jobs.settle(flushOf([settled(taken, taken.jobs[0]!, outcomes.release)]));

    const lost = await jobs.settle(again(taken, outcomes.snooze));

    expect(jobIdsOf(lost)).toEqual([taken.jobs[0]!.id]);
    expect(await admin.get(taken.jobs[0]!.id)).toMatchObject({ state: 'waiting' });
  });
});
