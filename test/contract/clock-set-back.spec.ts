import { claimRequest, idsOf, LEASE_MS, rescueRules } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';

const TWO_HOURS_MS = 7_200_000;
const ANN = { workerId: 'people', owner: 'ann' };

describeStores('a server whose clock was set back by two hours', (setup) => {
  it('has the jobs of a dead worker rescued one lease later', async () => {
    const { put, claim, jobs, workers, advance } = await setup();
    await workers.register({ id: 'w', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    await put({});
    const dead = await claim();

    advance(-TWO_HOURS_MS);
    const { leaseExpiryInMs } = await jobs.summarizeWork(['q']);
    const atOnce = await jobs.rescue(rescueRules());
    const upcoming = await jobs.readUpcomingTimes();
    advance(LEASE_MS);
    const later = await jobs.rescue(rescueRules());

    expect([leaseExpiryInMs, atOnce]).toEqual([0, []]);
    expect(upcoming.leaseExpiryInMs).toBeLessThanOrEqual(LEASE_MS);
    expect(later.map(({ job }) => job.id)).toEqual(idsOf(dead.jobs));
  });

  it('leaves a job to a worker that renews its lease', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    const { id } = await claim();

    advance(-TWO_HOURS_MS);
    await jobs.rescue(rescueRules());
    advance(LEASE_MS - 5_000);
    const held = await jobs.extend([id]);
    advance(LEASE_MS - 5_000);

    expect(held).toEqual([{ claimId: id, cancelRequested: [] }]);
    expect(await jobs.rescue(rescueRules())).toEqual([]);
  });

  it('reports no expired lease among leases written since', async () => {
    const { put, claim, jobs, workers, advance } = await setup();
    await workers.register({ id: 'w', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    await put({}, {});
    const { id } = await claim();

    advance(-TWO_HOURS_MS);
    await jobs.extend([id]);
    await claim();

    expect((await jobs.summarizeWork(['q'])).leaseExpiryInMs).toBeGreaterThan(0);
  });

  it('leaves a job to the owner of an unlimited assignment', async () => {
    const { put, consumer, jobs, advance } = await setup();
    const [id] = await put({});
    await consumer.assign(id!, { ...ANN, leaseMs: null }, 'anyone', () => ({ maxAttempts: 5 }));

    advance(-TWO_HOURS_MS);
    await jobs.rescue(rescueRules());
    advance(3 * TWO_HOURS_MS);

    expect(await jobs.rescue(rescueRules())).toEqual([]);
  });

  it('stores no finish time before the start time', async () => {
    const { put, consumer, advance, sql } = await setup();
    const [id] = await put({});
    await consumer.assign(id!, { ...ANN, leaseMs: 60_000 }, 'anyone', () => ({ maxAttempts: 5 }));

    advance(-TWO_HOURS_MS);
    await consumer.end(id!, { owner: 'ann' }, () => ({
      outcome: { kind: 'complete', result: null },
      retentionMs: TWO_HOURS_MS,
    }));

    const [row] = await sql<{ ran: number }>('SELECT finished_at - started_at AS ran FROM sql_queue_history');
    expect(Number(row!.ran)).toBe(0);
  });
});

describeStores('a lease that a claim holder has extended beyond its first duration', (setup) => {
  it('is not shortened', async () => {
    const { put, consumer, jobs, advance } = await setup();
    const [id] = await put({});
    await consumer.assign(id!, { ...ANN, leaseMs: 1_000 }, 'anyone', () => ({ maxAttempts: 5 }));

    await consumer.extend(id!, { owner: 'ann' }, TWO_HOURS_MS);
    await jobs.rescue(rescueRules());
    advance(TWO_HOURS_MS - 60_000);

    expect(await jobs.rescue(rescueRules())).toEqual([]);
    await expect(jobs.claim(claimRequest())).resolves.toEqual([]);
  });
});
