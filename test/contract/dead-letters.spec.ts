import {
  finalBatchOf,
  ERROR,
  completionBatchOf,
  LEASE_MS,
  outcomes,
  rescueRules,
  completionOf,
} from '../support/jobs.js';
import { describeStores, type World } from '../support/stores.js';

const deadLetter = 'dlq';
const all = { order: 'oldest', limit: 100 } as const;

describeStores('a dead job', (setup) => {
  it('is in the history, and its copy waits in its dead-letter queue', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({ payload: '{"é":1}', name: 'welcome', priority: -2, headers: '{"trace":"x"}' });

    await jobs.complete(finalBatchOf(await claim(), outcomes.dead, { deadLetter }));

    expect(await admin.get(id!)).toMatchObject({ state: 'dead', queue: 'q', error: ERROR });
    expect((await admin.find({ queue: deadLetter }, all)).jobs).toMatchObject([
      {
        ...{ state: 'waiting', payload: { é: 1 }, name: 'welcome', priority: -2, attempt: 0 },
        headers: {
          trace: 'x',
          'dead-letter.id': String(id),
          'dead-letter.queue': 'q',
          'dead-letter.error': 'Error: no',
        },
      },
    ]);
  });

  it('has its dead letter even without retention', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    await jobs.complete(finalBatchOf(await claim(), outcomes.dead, { deadLetter, retentionMs: false }));

    expect(await admin.get(id!)).toBeNull();
    expect((await admin.find({}, all)).jobs).toMatchObject([{ queue: deadLetter, state: 'waiting' }]);
  });

  it('makes no dead letter if its claim was lost', async () => {
    const { put, claim, jobs, admin, sql } = await setup();
    await put({}, {});
    const taken = await claim({ limit: 2 });
    await sql(`UPDATE sql_queue_jobs SET claim_id = 0, state = 'waiting' WHERE id = ${taken.jobs[0]!.id}`);

    const { lost } = await jobs.complete(finalBatchOf(taken, outcomes.dead, { deadLetter }));

    expect(lost.size).toBe(1);
    expect((await admin.find({ queue: deadLetter }, all)).jobs).toHaveLength(1);
  });

  it('makes one dead letter even if its outcome is written twice', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put({});
    const end = finalBatchOf(await claim(), outcomes.dead, { deadLetter });

    await jobs.complete(end);
    await jobs.complete({ ...end, mayHaveCommitted: true });

    expect((await admin.find({ queue: deadLetter }, all)).jobs).toHaveLength(1);
  });

  it('makes no dead letter if it is itself a dead letter', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put({});
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead, { deadLetter }));

    await jobs.complete(finalBatchOf(await claim({ queue: deadLetter }), outcomes.dead, { deadLetter: 'q' }));

    expect(await admin.counts()).toMatchObject({ waiting: 0, dead: 2 });
  });

  it('makes its dead letter in a batch of different outcomes', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put(...Object.keys(outcomes).map(() => ({})));
    const taken = await claim({ limit: 9 });

    const ends = Object.values(outcomes).map((outcome, n) =>
      completionOf(taken, taken.jobs[n]!, outcome, { deadLetter }),
    );
    await jobs.complete(completionBatchOf(ends));

    const [letter, ...others] = (await admin.find({ queue: deadLetter }, all)).jobs;
    const dead = ends.find(({ outcome }) => outcome.kind === 'dead')!;
    expect(letter!.headers['dead-letter.id']).toBe(String(dead.job.id));
    expect(others).toEqual([]);
  });

  it('makes the dead letter that its claim names when it is rescued', async () => {
    const world = await setup();
    await world.put({});
    await world.claim({ deadLetter });
    await world.put({ queue: 'other' });
    await world.claim({ queue: 'other' });

    const rescued = await dieInSilence(world);

    expect(rescued).toMatchObject([
      { job: { queue: 'q' }, deadLetter },
      { job: { queue: 'other' }, deadLetter: false },
    ]);
    expect(await world.admin.counts()).toMatchObject({ waiting: 1, dead: 2, active: 0 });
    expect((await world.admin.find({ queue: deadLetter }, all)).jobs).toHaveLength(1);
  });
});

describeStores('a dead job of a claim holder', (setup) => {
  const leaseMs = LEASE_MS;
  const to = { workerId: 'people', owner: 'ann', leaseMs: null };

  it('makes its dead letter if it was handed off', async () => {
    const world = await setup();
    await world.put({});
    const { id: from, workerId, jobs } = await world.claim({ claimId: 1, deadLetter });
    await world.jobs.handOff({ job: jobs[0]!, workerId, from, to: 2, leaseMs, deadLetter });

    await dieInSilence(world);

    expect((await world.admin.find({ queue: deadLetter }, all)).jobs).toHaveLength(1);
  });

  it.each(['no owner', 'another owner'])('makes its dead letter if it was assigned from %s', async (holder) => {
    const world = await setup();
    const { consumer } = world;
    const [id] = await world.put({});
    if (holder !== 'no owner') {
      await consumer.assign(id!, { ...to, owner: 'ben' }, 'anyone', () => ({ maxAttempts: 1, deadLetter }));
    }
    await consumer.assign(id!, to, 'anyone', () => ({ maxAttempts: 1, deadLetter }));
    await consumer.extend(id!, { owner: 'ann' }, leaseMs);

    await dieInSilence(world);

    expect((await world.admin.find({ queue: deadLetter }, all)).jobs).toHaveLength(1);
  });
});

async function dieInSilence({ jobs, advance }: World) {
  advance(LEASE_MS + 1_000);
  const rescued = await jobs.rescue(rescueRules({ decide: () => outcomes.dead }));
  return [...rescued].sort((a, b) => a.job.id - b.job.id);
}
