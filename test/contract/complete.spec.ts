import { finalBatchOf, ERROR, completionBatchOf, idsOf, outcomes, completionOf } from '../support/jobs.js';
import { describeStrategies } from '../support/stores.js';

describeStrategies('complete()', (setup) => {
  it('moves a completed job to the history, with its result and its times', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({ payload: '{"a":1}', headers: '{"h":"1"}', name: 'n', priority: 3, maxAttempts: 4 });
    const taken = await claim();

    await jobs.complete(finalBatchOf(taken, { kind: 'complete', result: '{"b":"é😀"}' }, { ranMs: 7.4 }));

    const record = (await admin.get(id!))!;
    expect(record).toMatchObject({ state: 'completed', payload: { a: 1 }, result: { b: 'é😀' }, headers: { h: '1' } });
    expect(record).toMatchObject({ name: 'n', priority: 3, attempt: 1, maxAttempts: 4, worker: 'worker-1' });
    expect(record.finishedAt!.getTime() - record.startedAt!.getTime()).toBe(7);
  });

  it('deletes a completed job without retention', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    await jobs.complete(finalBatchOf(await claim(), outcomes.complete, { retentionMs: false }));

    expect(await admin.get(id!)).toBeNull();
  });

  it('makes a job with an immediate retry waiting', async () => {
    const { put, claim, jobs } = await setup();
    const [id] = await put({});

    await jobs.complete(finalBatchOf(await claim(), outcomes.retry));

    const again = (await claim()).jobs[0];
    expect(again).toMatchObject({ id, attempt: 2, lastError: ERROR });
  });

  it('schedules a job with a later retry', async () => {
    const { put, claim, jobs, admin, advance } = await setup();
    const [id] = await put({});

    await jobs.complete(finalBatchOf(await claim(), { ...outcomes.retry, delayMs: 10_000 }));

    expect(await admin.get(id!)).toMatchObject({ state: 'scheduled', attempt: 1, error: ERROR, worker: null });
    expect(await jobs.promote(9)).toHaveLength(0);
    advance(10_001);
    expect(await jobs.promote(9)).toHaveLength(1);
    expect((await claim()).jobs[0]).toMatchObject({ id, attempt: 2 });
  });

  it('moves a dead job to the history, with its error', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    await jobs.complete(finalBatchOf(await claim(), outcomes.dead));

    expect(await admin.get(id!)).toMatchObject({ state: 'dead', error: ERROR, result: null, attempt: 1 });
  });

  it.each([outcomes.complete, { kind: 'complete', result: '1' } as const])(
    'stores no error for a completed job whose earlier attempt failed (%o)',
    async (complete) => {
      const { put, claim, jobs, admin } = await setup();
      const [id] = await put({});
      await jobs.complete(finalBatchOf(await claim(), outcomes.retry));

      await jobs.complete(finalBatchOf(await claim(), complete));

      expect(await admin.get(id!)).toMatchObject({ state: 'completed', attempt: 2, error: null });
    },
  );

  it('takes back the attempt of a released job', async () => {
    const { put, claim, jobs } = await setup();
    const [id] = await put({});

    await jobs.complete(finalBatchOf(await claim(), outcomes.release));

    expect((await claim()).jobs[0]).toMatchObject({ id, attempt: 1, lastError: null });
  });

  it('keeps the last error of a job that is released after a failure', async () => {
    const { put, claim, jobs } = await setup();
    await put({});

    await jobs.complete(finalBatchOf(await claim(), outcomes.retry));
    await jobs.complete(finalBatchOf(await claim(), outcomes.release));

    expect((await claim()).jobs[0]).toMatchObject({ attempt: 2, lastError: ERROR });
  });

  it('takes back the attempt of a snoozed job and schedules it', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    await jobs.complete(finalBatchOf(await claim(), outcomes.snooze));

    expect(await admin.get(id!)).toMatchObject({ state: 'scheduled', attempt: 0 });
  });

  it('keeps the last error of a cancelled job', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    await jobs.complete(finalBatchOf(await claim(), outcomes.retry));

    await jobs.complete(finalBatchOf(await claim(), outcomes.cancel));

    expect(await admin.get(id!)).toMatchObject({ state: 'cancelled', error: ERROR, attempt: 2 });
  });

  it('writes every kind of outcome of several claims at once', async () => {
    const { put, claim, jobs, admin, sql } = await setup();
    const ids = await put(...Array.from({ length: 6 }, () => ({})));
    const [a, b] = [await claim({ limit: 3 }), await claim({ limit: 3 })];

    await jobs.complete(
      completionBatchOf(
        [
          completionOf(b, b.jobs[2]!, outcomes.snooze),
          completionOf(a, a.jobs[0]!, outcomes.complete),
          completionOf(b, b.jobs[0]!, outcomes.cancel),
          completionOf(a, a.jobs[1]!, outcomes.dead),
          completionOf(b, b.jobs[1]!, outcomes.release),
          completionOf(a, a.jobs[2]!, outcomes.retry),
        ],
        { claims: [a, b].map(({ id }) => ({ id, startLimit: 3, isFinished: true })) },
      ),
    );

    const records = await Promise.all(ids.map((id) => admin.get(id)));
    const states = ['completed', 'dead', 'waiting', 'cancelled', 'waiting', 'scheduled'];
    expect(records.map((record) => record?.state)).toEqual(states);
    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('stores each of many large results with its own job', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put(...Array.from({ length: 40 }, () => ({})));
    const taken = await claim({ limit: 40 });
    const settlements = taken.jobs.map((job) =>
      completionOf(taken, job, { kind: 'complete', result: JSON.stringify(`${job.id}${'x'.repeat(200_000)}`) }),
    );

    await jobs.complete(completionBatchOf(settlements));

    const rows = await sql<{ id: number; result: string }>('SELECT id, result FROM sql_queue_history ORDER BY id');
    expect(rows.map(({ id }) => Number(id))).toEqual(idsOf(taken.jobs));
    expect(rows.every(({ id, result }) => result.startsWith(`"${id}x`))).toBe(true);
  });
});
