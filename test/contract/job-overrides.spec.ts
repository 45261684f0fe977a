import { claimRequest, completionBatchOf, completionOf, finalBatchOf, outcomes, rescueRules } from '../support/jobs.js';
import { describeStrategies, type World } from '../support/stores.js';

const HOUR_MS = 3_600_000;

describeStrategies('a job with options of its own', (setup) => {
  it('is marked as expired if it is claimed too late for the first time', async () => {
    const world = await setup();
    await world.put({ overrides: '{"expiresInMs":60000}' }, {}, { overrides: '{"expiresInMs":7200000}' });

    world.advance(HOUR_MS);
    const { jobs } = await world.claim({ limit: 5 });

    expect(jobs.map(({ isExpired }) => isExpired)).toEqual([true, undefined, undefined]);
  });

  it('is not expired if it runs again', async () => {
    const world = await setup();
    await world.put({ overrides: '{"expiresInMs":60000}' });
    await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.retry));

    world.advance(HOUR_MS);

    const [job] = (await world.claim()).jobs;

    expect([job!.attempt, job!.isExpired]).toEqual([2, undefined]);
  });

  it('expires if its claims have returned it before they started it', async () => {
    const world = await setup();
    await world.put(...Array.from({ length: 3 }, () => ({ overrides: '{"expiresInMs":60000}' })));
    const claim = await world.claim({ limit: 3, startLimit: 0 });
    const [unstarted, lost, taken] = claim.jobs;
    await world.jobs.complete(
      completionBatchOf([completionOf(claim, unstarted!, outcomes.release, { ranMs: null })], { claims: [] }),
    );
    await world.admin.release(taken!.id);
    world.advance(HOUR_MS);
    await world.jobs.rescue(rescueRules());

    const { jobs } = await world.claim({ limit: 3 });

    expect(jobs.map(({ id, isExpired }) => [id, isExpired])).toEqual(
      [unstarted!, lost!, taken!].map(({ id }) => [id, true]),
    );
  });

  it.each(['release', 'snooze'] as const)('is not expired after a %s of its first run', async (outcome) => {
    const world = await setup();
    const overrides = '{"expiresInMs":60000,"timeoutMs":5}';
    await world.put({ overrides }, { overrides });
    const claim = await world.claim({ limit: 2 });
    const ends = [outcomes[outcome], outcomes.complete].map((end, n) => completionOf(claim, claim.jobs[n]!, end));
    await world.jobs.complete(completionBatchOf(ends));
    world.advance(HOUR_MS);
    await world.jobs.promote(10);

    const { jobs } = await world.claim();

    expect(jobs).toMatchObject([{ id: claim.jobs[0]!.id, attempt: 1, overrides: { timeoutMs: 5 } }]);
    expect(jobs[0]!.isExpired).toBeUndefined();
  });

  it('gives its longer lease to its claim, which keeps it when it is renewed', async () => {
    const world = await setup();
    await world.put({ overrides: '{"leaseMs":7200000}' }, {}, {});
    const long = await world.claim({ limit: 2, lockId: 0 });
    const short = await world.claim({ lockId: 0 });

    world.advance(60_000);
    const rescued = await world.jobs.rescue(rescueRules());
    const renewed = await world.jobs.extend([long.id]);
    world.advance(HOUR_MS);

    expect(rescued.map(({ job }) => job.id)).toEqual(short.jobs.map(({ id }) => id));
    expect(renewed).toHaveLength(1);
    expect(await world.jobs.rescue(rescueRules())).toEqual([]);
    world.advance(HOUR_MS);
    expect(await world.jobs.rescue(rescueRules())).toHaveLength(2);
  });

  it('does not shorten the lease of its queue', async () => {
    const world = await setup();
    await world.put({ overrides: '{"leaseMs":1000}' });
    await world.claim({ lockId: 0 });

    world.advance(10_000);

    expect(await world.jobs.rescue(rescueRules())).toEqual([]);
  });

  it('is kept in the history for its own time', async () => {
    const world = await setup();
    const retention = (given: object) => ({ overrides: JSON.stringify({ retention: given }) });
    await world.put(
      ...[retention({ completedMs: false }), retention({ completedMs: HOUR_MS }), retention({ deadMs: HOUR_MS })],
      ...[{}, retention({ deadMs: false }), retention({ deadMs: HOUR_MS })],
    );
    const claim = await world.claim({ limit: 6 });
    const completions = claim.jobs.map((job, index) =>
      completionOf(claim, job, index < 4 ? outcomes.complete : outcomes.dead),
    );

    await world.jobs.complete(
      completionBatchOf(
        completions.map((one) => ({ ...one, retentionMs: 60_000 })),
        { claims: [{ id: claim.id, startLimit: 6, isFinished: true }] },
      ),
    );

    expect(await keptMs(world)).toEqual([HOUR_MS, 60_000, 60_000, HOUR_MS]);
  });

  it('is dead if another program has written them badly', async () => {
    const world = await setup();
    await world.put(
      ...[{ overrides: '{"leaseMs":1}' }, { overrides: '{"expiresInMs":"1d"}' }],
      ...[{ overrides: '{"retention":5}' }, { overrides: '{"retention":{"deadMs":-1}}' }],
    );

    const jobs = await world.jobs.claim(claimRequest({ limit: 9 }));

    expect(jobs.map(({ malformed }) => malformed && 'column' in malformed && malformed.column)).toEqual([
      'options',
      'options',
      'options',
      'options',
    ]);
  });
});

/** How long the history keeps each job, in the order of ids. */
async function keptMs({ sql }: World): Promise<number[]> {
  const rows = await sql<{ kept: number }>(
    'SELECT expires_at - finished_at AS kept FROM sql_queue_history ORDER BY id',
  );
  return rows.map(({ kept }) => Number(kept));
}
