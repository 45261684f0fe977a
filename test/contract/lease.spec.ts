import { finalBatchOf, completionBatchOf, LEASE_MS, outcomes, rescueRules, completionOf } from '../support/jobs.js';
import { describeStrategies } from '../support/stores.js';

describeStrategies('a lease', (setup) => {
  it('stays valid if it is extended in time', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    const { id } = await claim();

    advance(LEASE_MS - 5_000);
    const held = await jobs.extend([id]);
    advance(LEASE_MS - 5_000);

    expect(held).toEqual([{ claimId: id, cancelRequested: [] }]);
    expect(await jobs.rescue(rescueRules())).toEqual([]);
  });

  it('is extended after it has expired, if no rescue has taken its jobs', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    const { id } = await claim();

    advance(LEASE_MS);
    const held = await jobs.extend([id]);

    expect(held).toEqual([{ claimId: id, cancelRequested: [] }]);
    expect(await jobs.rescue(rescueRules())).toEqual([]);
  });

  it('is not extended after a rescue has taken some of its jobs', async () => {
    const { put, claim, jobs, advance } = await setup();
    const [first] = await put({}, {});
    const { id } = await claim({ limit: 2 });

    advance(LEASE_MS);
    await jobs.rescue(rescueRules({ isRunning: (_, jobId) => jobId === first }));

    expect(await jobs.extend([id])).toEqual([]);
    expect((await jobs.rescue(rescueRules())).map(({ job }) => job.id)).toEqual([first]);
  });

  it('is extended beside claims whose jobs were rescued', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({}, {});
    const short = await claim({ leaseMs: 1_000 });
    const long = await claim({ leaseMs: 60_000 });

    advance(1_000);
    await jobs.rescue(rescueRules());

    expect(await jobs.extend([short.id, long.id])).toEqual([{ claimId: long.id, cancelRequested: [] }]);
  });

  it('returns the jobs with cancellation requests when it is extended', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [a, b] = await put({}, {}, {});
    const { id } = await claim({ limit: 3 });

    await admin.cancel(b!, () => false);
    await admin.cancel(a!, () => false);

    expect(await jobs.extend([id])).toEqual([{ claimId: id, cancelRequested: [b, a] }]);
  });

  it('extend() accepts an empty list of claims', async () => {
    const { jobs } = await setup();

    expect(await jobs.extend([])).toEqual([]);
  });

  it('ends with the outcome of its last job', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put({});
    const taken = await claim();

    await jobs.complete(finalBatchOf(taken));

    expect(await jobs.extend([taken.id])).toEqual([]);
    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });
});

describeStrategies('the deletion of empty claims', (setup) => {
  it('deletes a claim without jobs', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put({});
    const taken = await claim();
    await jobs.complete(completionBatchOf([completionOf(taken, taken.jobs[0]!)]));

    await jobs.deleteEmptyClaims([taken.id]);

    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('leaves a claim with a job to expire', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({}, {});
    const taken = await claim({ limit: 2 });
    await jobs.complete(completionBatchOf([completionOf(taken, taken.jobs[0]!)]));

    await jobs.deleteEmptyClaims([taken.id]);
    advance(LEASE_MS);

    expect((await jobs.rescue(rescueRules())).map(({ job }) => job.id)).toEqual([taken.jobs[1]!.id]);
  });

  it('deletes a claim whose jobs are waiting or claimed again', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put({});
    const taken = await claim();
    await jobs.complete(completionBatchOf([completionOf(taken, taken.jobs[0]!, outcomes.release)]));
    const next = await claim();

    await jobs.deleteEmptyClaims([taken.id, next.id]);

    const rows = await sql<{ id: number }>('SELECT id FROM sql_queue_claims');
    expect(rows.map(({ id }) => Number(id))).toEqual([next.id]);
  });
});
