import { endOf, ERROR, flushOf, LEASE_MS, outcomes, rescueRules, settled } from '../support/jobs.js';
import { describeStores, type World } from '../support/stores.js';

const deadLetter = 'dlq';
const all = { order: 'oldest', limit: 100 } as const;

describeStores('a job that dies', (setup) => {
  it('is in the history, and a copy of it waits in its dead-letter queue', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({ payload: '{"é":1}', name: 'welcome', priority: -2, headers: '{"trace":"x"}' });

    await jobs.settle(endOf(await claim(), outcomes.dead, { deadLetter }));

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

  it('has its dead letter also where no history of it is kept', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    await jobs.settle(endOf(await claim(), outcomes.dead, { deadLetter, keepMs: false }));

    expect(await admin.get(id!)).toBeNull();
    expect((await admin.find({}, all)).jobs).toMatchObject([{ queue: deadLetter, state: 'waiting' }]);
  });

  it('makes no dead letter where its claim was lost', async () => {
    const { put, claim, jobs, admin, sql } = await setup();
    await put({}, {});
    const taken = await claim({ limit: 2 });
    await sql(`UPDATE sql_queue_jobs SET claim_id = 0, state = 'waiting' WHERE id = ${taken.jobs[0]!.id}`);

    const lost = await jobs.settle(endOf(taken, outcomes.dead, { deadLetter }));

    expect(lost.size).toBe(1);
    expect((await admin.find({ queue: deadLetter }, all)).jobs).toHaveLength(1);
  });

  it('makes one dead letter, however often its end is told', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put({});
    const end = endOf(await claim(), outcomes.dead, { deadLetter });

    await jobs.settle(end);
    await jobs.settle({ ...end, again: true });

    expect((await admin.find({ queue: deadLetter }, all)).jobs).toHaveLength(1);
  });

  it('as a dead letter is dead, and goes no further', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put({});
    await jobs.settle(endOf(await claim(), outcomes.dead, { deadLetter }));

    await jobs.settle(endOf(await claim({ queue: deadLetter }), outcomes.dead, { deadLetter: 'q' }));

    expect(await admin.counts()).toMatchObject({ waiting: 0, dead: 2 });
  });

  it('makes a dead letter among others that end in other ways', async () => {
    const { put, claim, jobs, admin } = await setup();
    await put(...Object.keys(outcomes).map(() => ({})));
    const taken = await claim({ limit: 9 });

    const ends = Object.values(outcomes).map((outcome, n) => settled(taken, taken.jobs[n]!, outcome, { deadLetter }));
    await jobs.settle(flushOf(ends));

    const [letter, ...others] = (await admin.find({ queue: deadLetter }, all)).jobs;
    const dead = ends.find(({ outcome }) => outcome.kind === 'dead')!;
    expect(letter!.headers['dead-letter.id']).toBe(String(dead.job.id));
    expect(others).toEqual([]);
  });

  it('when its worker is rescued from makes the dead letter that its claim speaks of', async () => {
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

describeStores('a job that dies in the hands of somebody who is no worker', (setup) => {
  const leaseMs = LEASE_MS;
  const to = { workerId: 'people', owner: 'ann', leaseMs: null };

  it('was handed off, and has its dead letter', async () => {
    const world = await setup();
    await world.put({});
    const { id: from, workerId, jobs } = await world.claim({ claimId: 1, deadLetter });
    await world.jobs.handOff({ job: jobs[0]!, workerId, from, to: 2, leaseMs, deadLetter });

    await dieInSilence(world);

    expect((await world.admin.find({ queue: deadLetter }, all)).jobs).toHaveLength(1);
  });

  it.each(['nobody', 'another owner'])('was assigned from %s, and has its dead letter', async (holder) => {
    const world = await setup();
    const { consumer } = world;
    const [id] = await world.put({});
    if (holder !== 'nobody') {
      await consumer.assign(id!, { ...to, owner: 'ben' }, 'whoever', () => ({ maxAttempts: 1, deadLetter }));
    }
    await consumer.assign(id!, to, 'whoever', () => ({ maxAttempts: 1, deadLetter }));
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
