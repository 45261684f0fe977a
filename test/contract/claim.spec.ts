import { claimRequest, idsOf, outcomes, completionOf, completionBatchOf } from '../support/jobs.js';
import { describeStrategies } from '../support/stores.js';

describeStrategies('a claim', (setup) => {
  it('never returns a job to two callers', async () => {
    const { put, claim } = await setup();
    await put(...Array.from({ length: 100 }, () => ({})));

    const claims = await Promise.all(Array.from({ length: 8 }, () => claim({ limit: 20 })));

    const ids = claims.flatMap(({ jobs }) => idsOf(jobs));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('returns every job while several callers claim until the queue is empty', async () => {
    const { put, claim } = await setup();
    const ids = await put(...Array.from({ length: 100 }, () => ({})));

    const drain = async (): Promise<number[]> => {
      const { jobs } = await claim({ limit: 7 });
      return jobs.length === 0 ? [] : [...idsOf(jobs), ...(await drain())];
    };
    const drained = await Promise.all([drain(), drain(), drain(), drain()]);

    expect(drained.flat().sort((a, b) => a - b)).toEqual(ids);
  });

  it('returns jobs by priority, and the oldest first within a priority', async () => {
    const { put, claim } = await setup();
    const [a, b, c, d] = await put({ priority: 5 }, { priority: -1 }, { priority: 5 }, { priority: -1 });

    const { jobs } = await claim({ limit: 9 });

    expect(idsOf(jobs)).toEqual([b, d, a, c]);
  });

  it('returns the youngest of the most urgent jobs first if the order is lifo', async () => {
    const { put, claim } = await setup();
    const [a, b, c, d] = await put({ priority: 5 }, { priority: -1 }, { priority: 5 }, { priority: -1 });

    const first = await claim({ limit: 1, order: 'lifo' });
    const second = await claim({ limit: 1, order: 'lifo' });
    const third = await claim({ limit: 2, order: 'lifo' });

    expect([first, second, third].map(({ jobs }) => idsOf(jobs))).toEqual([[d], [b], [c, a]]);
  });

  it('returns at most the requested number of jobs', async () => {
    const { put, claim } = await setup();
    const [a, b, c] = await put({}, {}, {});

    const first = await claim({ limit: 2 });
    const second = await claim({ limit: 2 });

    expect([idsOf(first.jobs), idsOf(second.jobs)]).toEqual([[a, b], [c]]);
  });

  it('returns no job of another queue, even if the names differ only in case', async () => {
    const { put, claim } = await setup();
    await put({ queue: 'Q' }, { queue: 'q2' });

    expect((await claim({ limit: 9 })).jobs).toEqual([]);
  });

  it('returns jobs of a paused queue, since only the caller honours the pause', async () => {
    const { put, claim, admin } = await setup();
    await put({});
    await admin.setPaused(['q'], true);

    expect((await claim()).jobs).toHaveLength(1);
  });

  it('counts the attempt', async () => {
    const { put, claim, jobs } = await setup();
    await put({});

    const first = await claim();
    await jobs.complete(completionBatchOf([completionOf(first, first.jobs[0]!, outcomes.retry)]));
    const second = await claim();

    expect([first, second].map((taken) => taken.jobs[0]?.attempt)).toEqual([1, 2]);
  });

  it('sets the maximum of attempts if the enqueue did not', async () => {
    const { put, claim, admin } = await setup();
    const [says] = await put({ maxAttempts: 9 }, {});

    const { jobs } = await claim({ limit: 2, maxAttempts: 3 });

    expect(jobs.map(({ maxAttempts }) => maxAttempts)).toEqual([9, 3]);
    expect((await admin.get(says! + 1))?.maxAttempts).toBe(3);
  });

  it('stores no claim if the queue is empty', async () => {
    const { jobs, sql } = await setup();

    await jobs.claim(claimRequest());

    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('returns poison candidates last', async () => {
    const { put, claim, sql } = await setup();
    const [suspect, other] = await put({}, {});
    const error = '{"name":"WorkerLostError","message":"","code":"WORKER_LOST"}';
    await sql('UPDATE sql_queue_jobs SET attempt = 2, error = ? WHERE id = ?', [error, suspect]);

    const { jobs } = await claim({ limit: 2 });

    expect(idsOf(jobs)).toEqual([other, suspect]);
  });
});
