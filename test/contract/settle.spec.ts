import { endOf, ERROR, flushOf, idsOf, outcomes, settled } from '../support/jobs.js';
import { describeStrategies } from '../support/stores.js';

describeStrategies('settling', (setup) => {
  it('moves a completed job to the history, with its result and its times', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({ payload: '{"a":1}', headers: '{"h":"1"}', name: 'n', priority: 3, maxAttempts: 4 });
    const taken = await claim();

    await jobs.settle(endOf(taken, { kind: 'complete', result: '{"b":"é😀"}' }, { ranMs: 7.4 }));

    const record = (await admin.get(id!))!;
    expect(record).toMatchObject({ state: 'completed', payload: { a: 1 }, result: { b: 'é😀' }, headers: { h: '1' } });
    expect(record).toMatchObject({ name: 'n', priority: 3, attempt: 1, maxAttempts: 4, worker: 'worker-1' });
    expect(record.finishedAt!.getTime() - record.startedAt!.getTime()).toBe(7);
  });

  it('leaves nothing of a completed job that is not to be kept', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    await jobs.settle(endOf(await claim(), outcomes.complete, { keepMs: false }));

    expect(await admin.get(id!)).toBeNull();
  });

  it('puts a job that is to be tried at once back to waiting', async () => {
    const { put, claim, jobs } = await setup();
    const [id] = await put({});

    await jobs.settle(endOf(await claim(), outcomes.retry));

    const again = (await claim()).jobs[0];
    expect(again).toMatchObject({ id, attempt: 2, lastError: ERROR });
  });

  it('schedules a job that is to be tried later', async () => {
    const { put, claim, jobs, admin, advance } = await setup();
    const [id] = await put({});

    await jobs.settle(endOf(await claim(), { ...outcomes.retry, delayMs: 10_000 }));

    expect(await admin.get(id!)).toMatchObject({ state: 'scheduled', attempt: 1, error: ERROR, worker: null });
    expect(await jobs.promote(9)).toBe(0);
    advance(10_001);
    expect(await jobs.promote(9)).toBe(1);
    expect((await claim()).jobs[0]).toMatchObject({ id, attempt: 2 });
  });

  it('buries a dead job in the history, with its error', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    await jobs.settle(endOf(await claim(), outcomes.dead));

    expect(await admin.get(id!)).toMatchObject({ state: 'dead', error: ERROR, result: null, attempt: 1 });
  });

  it.each([outcomes.complete, { kind: 'complete', result: '1' } as const])(
    'stores no error for a completed job whose earlier run failed (%p)',
    async (complete) => {
      const { put, claim, jobs, admin } = await setup();
      const [id] = await put({});
      await jobs.settle(endOf(await claim(), outcomes.retry));

      await jobs.settle(endOf(await claim(), complete));

      expect(await admin.get(id!)).toMatchObject({ state: 'completed', attempt: 2, error: null });
    },
  );

  it('gives a released job its attempt back', async () => {
    const { put, claim, jobs } = await setup();
    const [id] = await put({});

    await jobs.settle(endOf(await claim(), outcomes.release));

    expect((await claim()).jobs[0]).toMatchObject({ id, attempt: 1, lastError: null });
  });

  it('keeps the last error of a job that is released after it', async () => {
    const { put, claim, jobs } = await setup();
    await put({});

    await jobs.settle(endOf(await claim(), outcomes.retry));
    await jobs.settle(endOf(await claim(), outcomes.release));

    expect((await claim()).jobs[0]).toMatchObject({ attempt: 2, lastError: ERROR });
  });

  it('gives a snoozed job its attempt back and schedules it', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});

    await jobs.settle(endOf(await claim(), outcomes.snooze));

    expect(await admin.get(id!)).toMatchObject({ state: 'scheduled', attempt: 0 });
  });

  it('keeps the last error of a job that was cancelled', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    await jobs.settle(endOf(await claim(), outcomes.retry));

    await jobs.settle(endOf(await claim(), outcomes.cancel));

    expect(await admin.get(id!)).toMatchObject({ state: 'cancelled', error: ERROR, attempt: 2 });
  });

  it('writes every kind of outcome of several claims at once', async () => {
    const { put, claim, jobs, admin, sql } = await setup();
    const ids = await put(...Array.from({ length: 6 }, () => ({})));
    const [a, b] = [await claim({ limit: 3 }), await claim({ limit: 3 })];

    await jobs.settle(
      flushOf(
        [
          settled(b, b.jobs[2]!, outcomes.snooze),
          settled(a, a.jobs[0]!, outcomes.complete),
          settled(b, b.jobs[0]!, outcomes.cancel),
          settled(a, a.jobs[1]!, outcomes.dead),
          settled(b, b.jobs[1]!, outcomes.release),
          settled(a, a.jobs[2]!, outcomes.retry),
        ],
        { claims: [a, b].map(({ id }) => ({ id, started: 3, finished: true })) },
      ),
    );

    const records = await Promise.all(ids.map((id) => admin.get(id)));
    const states = ['completed', 'dead', 'waiting', 'cancelled', 'waiting', 'scheduled'];
    expect(records.map((record) => record?.state)).toEqual(states);
    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('keeps a hundred results of half a megabyte apart', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put(...Array.from({ length: 40 }, () => ({})));
    const taken = await claim({ limit: 40 });
    const settlements = taken.jobs.map((job) =>
      settled(taken, job, { kind: 'complete', result: JSON.stringify(`${job.id}${'x'.repeat(200_000)}`) }),
    );

    await jobs.settle(flushOf(settlements));

    const rows = await sql<{ id: number; result: string }>('SELECT id, result FROM sql_queue_history ORDER BY id');
    expect(rows.map(({ id }) => Number(id))).toEqual(idsOf(taken.jobs));
    expect(rows.every(({ id, result }) => result.startsWith(`"${id}x`))).toBe(true);
  });
});
