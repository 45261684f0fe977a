import { idsOf, newJob } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';

describeStores('enqueue()', (setup) => {
  it('returns the ids of the jobs in their order', async () => {
    const { jobs, claim } = await setup();

    const ids = await jobs.enqueue(['"a"', '"b"', '"c"'].map((payload) => newJob({ payload })));

    const claimed = (await claim({ limit: 9 })).jobs;
    expect(claimed.map(({ id, payload }) => [id, payload])).toEqual([
      [ids[0], '"a"'],
      [ids[1], '"b"'],
      [ids[2], '"c"'],
    ]);
  });

  it('stores a thousand jobs at once', async () => {
    const { jobs, sql } = await setup();

    const ids = await jobs.enqueue(Array.from({ length: 1_000 }, (_, n) => newJob({ payload: `${n}` })));

    const rows = await sql<{ id: number; payload: string }>('SELECT id, payload FROM sql_queue_jobs ORDER BY id');
    expect(rows.map((row) => Number(row.id))).toEqual(ids);
    expect(rows.map(({ payload }) => Number(payload))).toEqual([...ids.keys()]);
  });

  it.each(['name', 'priority', 'maxAttempts', 'headers', 'overrides'] as const)(
    'stores a plain job identically alone and beside a job with its own %s, which is stored too',
    async (option) => {
      const { jobs, sql } = await setup();
      const own = { name: 'n', priority: 7, maxAttempts: 2, headers: '{"a":"b"}', overrides: '{"timeoutMs":5}' };
      const column = { name: 'name', priority: 'priority', maxAttempts: 'max_attempts', headers: 'headers' };

      await jobs.enqueue([newJob({})]);
      await jobs.enqueue([newJob({}), newJob({ [option]: own[option] })]);

      const rows = await sql<Record<string, unknown>>('SELECT * FROM sql_queue_jobs ORDER BY id');
      const [alone, beside, other] = rows.map(({ id: _id, created_at: _createdAt, ...rest }) => rest);
      const written = option === 'overrides' ? 'options' : column[option];
      expect(beside).toEqual(alone);
      expect(other).toEqual({ ...alone, [written]: own[option] });
    },
  );

  it('returns to each of several callers the ids of its own jobs', async () => {
    const { jobs, admin } = await setup();

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, caller) =>
        jobs.enqueue(Array.from({ length: 5 }, () => newJob({ payload: `${caller}` }))),
      ),
    );

    for (const [caller, ids] of answers.entries()) {
      for (const id of ids) expect((await admin.get(id))?.payload).toBe(caller);
    }
  });

  it('stores a payload of a megabyte unchanged', async () => {
    const { put, claim } = await setup();
    const payload = JSON.stringify("'é\\😀\n".repeat(90_000));

    await put({ payload }, { payload });

    expect((await claim({ limit: 2 })).jobs.map((job) => job.payload === payload)).toEqual([true, true]);
  });

  it('does nothing for an empty list', async () => {
    const { jobs } = await setup();

    expect(await jobs.enqueue([])).toEqual([]);
  });

  it('stores every field of a job', async () => {
    const { put, claim } = await setup();
    const [id] = await put({
      queue: 'q',
      name: 'welcome',
      priority: -3,
      maxAttempts: 2,
      payload: '{"to":"a"}',
      headers: '{"trace":"1"}',
      overrides: '{"timeoutMs":5}',
    });

    const { jobs } = await claim();

    expect(jobs[0]).toMatchObject({ id, queue: 'q', name: 'welcome', priority: -3, maxAttempts: 2 });
    expect(jobs[0]).toMatchObject({ payload: '{"to":"a"}', headers: '{"trace":"1"}', overrides: { timeoutMs: 5 } });
  });

  it('hides a delayed job from claims until it is due', async () => {
    const { put, claim, jobs, advance } = await setup();
    const [, now] = await put({ delayMs: 60_000 }, {});

    const first = await claim({ limit: 9 });
    advance(60_001);
    await jobs.promote(100);
    const second = await claim({ limit: 9 });

    expect(idsOf(first.jobs)).toEqual([now]);
    expect(second.jobs).toHaveLength(1);
  });

  it('never reuses an id, even after the last job is deleted', async () => {
    const { put, admin } = await setup();
    const [first] = await put({});
    await admin.remove([first!]);

    const [second] = await put({});

    expect(second).toBeGreaterThan(first!);
  });
});
