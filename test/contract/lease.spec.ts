import { endOf, flushOf, LEASE_MS, outcomes, rescueRules, settled } from '../support/jobs.js';
import { describeStrategies } from '../support/stores.js';

describeStrategies('a lease', (setup) => {
  it('holds on when it is extended in time', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    const { id } = await claim();

    advance(LEASE_MS - 5_000);
    const held = await jobs.extend([id]);
    advance(LEASE_MS - 5_000);

    expect(held).toEqual([{ claimId: id, cancelled: [] }]);
    expect(await jobs.rescue(rescueRules())).toEqual([]);
  });

  it('that has lapsed is neither renewed nor answered', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    const { id } = await claim();

    advance(LEASE_MS);
    const held = await jobs.extend([id]);

    expect(held).toEqual([]);
    expect(await jobs.rescue(rescueRules())).toHaveLength(1);
  });

  it('is renewed beside others that have lapsed', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({}, {});
    const short = await claim({ leaseMs: 1_000 });
    const long = await claim({ leaseMs: 60_000 });

    advance(1_000);

    expect(await jobs.extend([short.id, long.id])).toEqual([{ claimId: long.id, cancelled: [] }]);
  });

  it('brings the word of jobs that somebody wants cancelled', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [a, b] = await put({}, {}, {});
    const { id } = await claim({ limit: 3 });

    await admin.cancel(b!, () => false);
    await admin.cancel(a!, () => false);

    expect(await jobs.extend([id])).toEqual([{ claimId: id, cancelled: [b, a] }]);
  });

  it('of no claims at all is no error', async () => {
    const { jobs } = await setup();

    expect(await jobs.extend([])).toEqual([]);
  });

  it('ends with the outcome of its last job', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put({});
    const taken = await claim();

    await jobs.settle(endOf(taken));

    expect(await jobs.extend([taken.id])).toEqual([]);
    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });
});

describeStrategies('retiring a claim', (setup) => {
  it('removes it when none of its jobs is left', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put({});
    const taken = await claim();
    await jobs.settle(flushOf([settled(taken, taken.jobs[0]!)]));

    await jobs.retire([taken.id]);

    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('leaves it to lapse where a job still carries it', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({}, {});
    const taken = await claim({ limit: 2 });
    await jobs.settle(flushOf([settled(taken, taken.jobs[0]!)]));

    await jobs.retire([taken.id]);
    advance(LEASE_MS);

    expect((await jobs.rescue(rescueRules())).map(({ job }) => job.id)).toEqual([taken.jobs[1]!.id]);
  });

  it('removes it when its jobs have gone back to waiting and to others', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put({});
    const taken = await claim();
    await jobs.settle(flushOf([settled(taken, taken.jobs[0]!, outcomes.release)]));
    const next = await claim();

    await jobs.retire([taken.id, next.id]);

    const rows = await sql<{ id: number }>('SELECT id FROM sql_queue_claims');
    expect(rows.map(({ id }) => Number(id))).toEqual([next.id]);
  });
});
