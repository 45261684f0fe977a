import {
  claimRequest,
  finalBatchOf,
  ERROR,
  completionBatchOf,
  idsOf,
  outcomes,
  completionOf,
  type Claim,
} from '../support/jobs.js';
import { describeStores, type World } from '../support/stores.js';

const REFUSED = expect.stringMatching(/duplicate|unique/i) as unknown;

describeStores('completeAndClaim()', (setup) => {
  it('writes the outcomes, and returns the next jobs under the new claim', async () => {
    const { put, claim, jobs, admin, sql } = await setup();
    const [first, second, third] = await put({}, {}, { payload: '"next"', maxAttempts: 4 }, { queue: 'other' });
    const taken = await claim({ limit: 2 });
    const request = claimRequest({ limit: 5, workerId: 'worker-2' });

    const { lost, jobs: next } = await jobs.completeAndClaim(finalBatchOf(taken), request);

    expect([...lost]).toEqual([]);
    expect(next).toMatchObject([{ id: third, payload: '"next"', attempt: 1, maxAttempts: 4 }]);
    expect(await admin.get(first!)).toMatchObject({ state: 'completed', worker: 'worker-1' });
    expect(await admin.get(second!)).toMatchObject({ state: 'completed' });
    expect(await admin.get(third!)).toMatchObject({ state: 'active', worker: 'worker-2' });
    expect(await claims(sql)).toEqual([{ id: request.claimId, job_ids: `[${third}]`, start_limit: 1 }]);
  });

  it('writes the outcomes even if no job remains to be claimed, and stores no claim', async () => {
    const { put, claim, jobs, admin, sql } = await setup();
    const [id] = await put({});

    const { lost, jobs: next } = await jobs.completeAndClaim(finalBatchOf(await claim()), claimRequest({ limit: 5 }));

    expect([[...lost], next]).toEqual([[], []]);
    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
    expect(await claims(sql)).toEqual([]);
  });

  it('claims even without outcomes to write', async () => {
    const { put, jobs } = await setup();
    const [id] = await put({});

    const { jobs: next } = await jobs.completeAndClaim(completionBatchOf([]), claimRequest());

    expect(idsOf(next)).toEqual([id]);
  });

  it('completes the other jobs and claims if some jobs were lost', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [first, second, third] = await put({}, {}, {});
    const taken = await claim({ workerId: 'late', limit: 2 });
    await jobs.complete(completionBatchOf([completionOf(taken, taken.jobs[0]!, outcomes.release)]));
    await claim({ workerId: 'owner' });

    const { lost, jobs: next } = await jobs.completeAndClaim(
      finalBatchOf(taken),
      claimRequest({ limit: 9, workerId: 'late' }),
    );

    expect(Array.from(lost, ({ job }) => job.id)).toEqual([first]);
    expect(idsOf(next)).toEqual([third]);
    expect(await admin.get(first!)).toMatchObject({ state: 'active', worker: 'owner' });
    expect(await admin.get(second!)).toMatchObject({ state: 'completed' });
    expect(await admin.get(third!)).toMatchObject({ state: 'active', worker: 'late' });
  });

  it('writes nothing if the claim cannot be stored', async () => {
    const world = await setup();
    const { put, claim, jobs, admin } = world;
    await put(...Array.from({ length: 13 }, (_, n) => ({ payload: `${n}` })));
    const taken = await claim({ limit: 10, startLimit: 4 });
    const rival = await claim({ limit: 1, workerId: 'rival' });
    const before = await everything(world);

    const both = jobs.completeAndClaim(ofEveryKind(taken), claimRequest({ claimId: rival.id, limit: 5 }));

    await expect(both).rejects.toMatchObject({ message: REFUSED });
    expect(await everything(world)).toEqual(before);
    const { lost, jobs: next } = await jobs.completeAndClaim(finalBatchOf(taken), claimRequest({ limit: 5 }));
    expect([lost.size, next.length]).toEqual([0, 2]);
    expect(await admin.counts('q')).toMatchObject({ completed: 10, active: 3, waiting: 0 });
  });

  it('writes nothing if an outcome cannot be stored', async () => {
    const world = await setup();
    const { put, claim, jobs } = world;
    await put(...Array.from({ length: 12 }, () => ({})));
    const taken = await claim({ limit: 10, startLimit: 4 });
    const unwritable = taken.jobs.map((job, n) => (n === 9 ? { ...job, payload: null as never } : job));
    const before = await everything(world);

    const outcome = { ...outcomes.complete, result: '1' };
    const both = jobs.completeAndClaim(
      finalBatchOf({ ...taken, jobs: unwritable }, outcome),
      claimRequest({ limit: 5 }),
    );

    await expect(both).rejects.toMatchObject({ message: expect.stringMatching(/null/i) as unknown });
    expect(await everything(world)).toEqual(before);
  });

  it.each([
    ['released', outcomes.release, { attempt: 1, lastError: null }],
    ['retried at once', outcomes.retry, { attempt: 2, lastError: ERROR }],
  ] as const)('can return a job that the same batch %s', async (_, outcome, seen) => {
    const { put, claim, jobs, sql } = await setup();
    const [id] = await put({});
    const request = claimRequest({ limit: 5 });

    const { jobs: next } = await jobs.completeAndClaim(finalBatchOf(await claim(), outcome), request);

    expect(next).toMatchObject([{ id, ...seen }]);
    expect(await claims(sql)).toMatchObject([{ id: request.claimId }]);
  });

  it('does not return a job that the same batch delayed', async () => {
    const { put, claim, jobs } = await setup();
    await put({}, {});
    const taken = await claim({ limit: 2 });
    const [first, second] = taken.jobs;

    const { jobs: next } = await jobs.completeAndClaim(
      completionBatchOf([
        completionOf(taken, first!, outcomes.snooze),
        completionOf(taken, second!, { ...outcomes.retry, delayMs: 1_000 }),
      ]),
      claimRequest({ limit: 5 }),
    );

    expect(next).toEqual([]);
  });

  it('finds a job that it released at its old position, at the latest with the next claim', async () => {
    const { put, claim, jobs } = await setup();
    const ids = await put(...Array.from({ length: 12 }, () => ({})));
    await claim({ limit: 1 });
    const released = await claim({ limit: 1 });

    const { jobs: next } = await jobs.completeAndClaim(
      finalBatchOf(released, outcomes.release),
      claimRequest({ limit: 2 }),
    );
    const { jobs: after } = await claim({ limit: 2 });

    expect([...idsOf(next), ...idsOf(after)]).toContain(ids[1]);
  });

  it('returns the youngest job first if the order is lifo', async () => {
    const { put, claim, jobs } = await setup();
    const [, second, third] = await put({}, {}, {}, {});
    const taken = await claim({ order: 'lifo' });

    const { jobs: next } = await jobs.completeAndClaim(finalBatchOf(taken), claimRequest({ order: 'lifo', limit: 2 }));

    expect(idsOf(next)).toEqual([third, second]);
  });

  it('raises the start limit of another claim', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put({}, {}, {}, {});
    const held = await claim({ limit: 3, startLimit: 1 });

    await jobs.completeAndClaim(
      completionBatchOf([completionOf(held, held.jobs[0]!)], {
        claims: [{ id: held.id, startLimit: 3, isFinished: false }],
      }),
      claimRequest({ workerId: 'other' }),
    );

    expect(await claims(sql)).toContainEqual({
      id: held.id,
      job_ids: JSON.stringify(idsOf(held.jobs)),
      start_limit: 3,
    });
  });

  it('drains a queue from several stores, and each job once', async () => {
    const { put, open, jobs, sql } = await setup();
    const ids = await put(...Array.from({ length: 300 }, () => ({})));
    const stores = [jobs, (await open()).jobs, jobs, (await open()).jobs];

    const handed = await Promise.all(
      stores.map(async (store) => {
        const mine: number[] = [];
        let request = claimRequest({ limit: 11 });
        let taken: Claim = { id: request.claimId, workerId: request.workerId, jobs: await store.claim(request) };
        while (taken.jobs.length > 0) {
          mine.push(...idsOf(taken.jobs));
          request = claimRequest({ limit: 11 });
          const { lost, jobs: next } = await store.completeAndClaim(finalBatchOf(taken), request);
          expect([...lost]).toEqual([]);
          taken = { id: request.claimId, workerId: request.workerId, jobs: next };
        }
        return mine;
      }),
    );

    expect(handed.flat().sort((a, b) => a - b)).toEqual(ids);
    const kept = await sql<{ id: number }>('SELECT id FROM sql_queue_history ORDER BY id');
    expect(kept.map(({ id }) => Number(id))).toEqual(ids);
    expect(await claims(sql)).toEqual([]);
  });
});

/** A batch that writes to every table: all kinds of outcomes, some single ones and several equal completions. */
function ofEveryKind(taken: Claim) {
  const [retried, released, dead, ...completed] = taken.jobs;
  return completionBatchOf(
    [
      completionOf(taken, retried!, outcomes.retry),
      completionOf(taken, released!, outcomes.release),
      completionOf(taken, dead!, outcomes.dead),
      ...completed.map((job) => completionOf(taken, job)),
    ],
    { claims: [{ id: taken.id, startLimit: 10, isFinished: true }] },
  );
}

async function claims(sql: World['sql']) {
  const rows = await sql<{ id: number; job_ids: string; start_limit: number }>(
    'SELECT id, job_ids, start_limit FROM sql_queue_claims ORDER BY id',
  );
  return rows.map((row) => ({ ...row, id: Number(row.id) }));
}

async function everything({ sql }: World): Promise<unknown[]> {
  return Promise.all(['jobs', 'claims', 'history'].map((table) => sql(`SELECT * FROM sql_queue_${table} ORDER BY id`)));
}
