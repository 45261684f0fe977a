import { claimOf, idsOf, LEASE_MS, rescueRules } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';

const TWO_HOURS_MS = 7_200_000;
const ANN = { workerId: 'people', owner: 'ann' };

describeStores('after the server’s clock was set back by two hours', (setup) => {
  it('rescues the jobs of a dead worker one lease later', async () => {
    const { put, claim, jobs, advance } = await setup();
    await jobs.enter({ id: 'w', host: 'h', pid: 1, queues: ['q'] });
    await put({});
    const dead = await claim();

    advance(-TWO_HOURS_MS);
    const { lapseInMs } = await jobs.survey(['q']);
    const atOnce = await jobs.rescue(rescueRules());
    const upcoming = await jobs.upcoming();
    advance(LEASE_MS);
    const later = await jobs.rescue(rescueRules());

    expect([lapseInMs, atOnce]).toEqual([0, []]);
    expect(upcoming.lapseInMs).toBeLessThanOrEqual(LEASE_MS);
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

    expect(held).toEqual([{ claimId: id, cancelled: [] }]);
    expect(await jobs.rescue(rescueRules())).toEqual([]);
  });

  it('sees nothing to rescue in leases that were written since', async () => {
    const { put, claim, jobs, advance } = await setup();
    await jobs.enter({ id: 'w', host: 'h', pid: 1, queues: ['q'] });
    await put({}, {});
    const { id } = await claim();

    advance(-TWO_HOURS_MS);
    await jobs.extend([id]);
    await claim();

    expect((await jobs.survey(['q'])).lapseInMs).toBeGreaterThan(0);
  });

  it('leaves a job with the person who has it without an end', async () => {
    const { put, consumer, jobs, advance } = await setup();
    const [id] = await put({});
    await consumer.assign(id!, { ...ANN, leaseMs: null }, 'whoever', () => ({ maxAttempts: 5 }));

    advance(-TWO_HOURS_MS);
    await jobs.rescue(rescueRules());
    advance(3 * TWO_HOURS_MS);

    expect(await jobs.rescue(rescueRules())).toEqual([]);
  });

  it('notes no completion before its beginning', async () => {
    const { put, consumer, advance, sql } = await setup();
    const [id] = await put({});
    await consumer.assign(id!, { ...ANN, leaseMs: 60_000 }, 'whoever', () => ({ maxAttempts: 5 }));

    advance(-TWO_HOURS_MS);
    await consumer.end(id!, { owner: 'ann' }, () => ({
      outcome: { kind: 'complete', result: null },
      keepMs: TWO_HOURS_MS,
    }));

    const [row] = await sql<{ ran: number }>('SELECT finished_at - started_at AS ran FROM sql_queue_history');
    expect(Number(row!.ran)).toBe(0);
  });
});

describeStores('a lease that a person has extended beyond its first length', (setup) => {
  it('is not shortened', async () => {
    const { put, consumer, jobs, advance } = await setup();
    const [id] = await put({});
    await consumer.assign(id!, { ...ANN, leaseMs: 1_000 }, 'whoever', () => ({ maxAttempts: 5 }));

    await consumer.extend(id!, { owner: 'ann' }, TWO_HOURS_MS);
    await jobs.rescue(rescueRules());
    advance(TWO_HOURS_MS - 60_000);

    expect(await jobs.rescue(rescueRules())).toEqual([]);
    await expect(jobs.claim(claimOf())).resolves.toEqual([]);
  });
});
