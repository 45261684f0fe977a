import type { Completion } from '../../lib/store/rows/completion.js';
import {
  finalBatchOf,
  completionBatchOf,
  idsOf,
  LEASE_MS,
  newJob,
  outcomes,
  rescueRules,
  completionOf,
} from '../support/jobs.js';
import { describeStrategies, type World } from '../support/stores.js';

interface HistoryRow {
  id: number;
  created_at: number;
  started_at: number;
  finished_at: number;
  expires_at: number;
  [column: string]: unknown;
}

// One statement copies the jobs of equal completions; values that are not in the job's row are written with it.
describeStrategies('equal completions', (setup) => {
  it('store exactly the same as single completions', async () => {
    const world = await setup();
    const { put, claim, jobs, sql } = world;
    const alike = await put(...twelve());
    const single = await put(...twelve());
    // Every second job has failed before; the other jobs were released.
    const first = await claim({ limit: 24, maxAttempts: 6 });
    await jobs.complete(
      completionBatchOf(
        first.jobs.map((job, n) => completionOf(first, job, n % 2 ? failure(n % 12) : outcomes.release)),
        { claims: [{ id: first.id, startLimit: 24, isFinished: true }] },
      ),
    );
    const createdAt = new Map((await rows(sql, 'jobs')).map((row) => [row.id, row.created_at]));
    const taken = await claim({ limit: 24, workerId: 'worker-2', maxAttempts: 6 });
    const outcomeOf = (job: Completion['job']) =>
      completionOf(taken, job, outcomes.complete, { ranMs: 40.4, retentionMs: 3_600_000 });

    await jobs.complete(completionBatchOf(taken.jobs.filter(({ id }) => alike.includes(id)).map(outcomeOf)));
    for (const job of taken.jobs.filter(({ id }) => single.includes(id)))
      await jobs.complete(completionBatchOf([outcomeOf(job)]));

    const kept = await rows(sql, 'history');
    const told = kept.map(withoutTimes);
    expect(told.slice(0, 12)).toEqual(told.slice(12));
    expect(told[0]).toMatchObject({ ...{ queue: 'q', name: 'name-0', state: 'completed', priority: 0, attempt: 1 } });
    expect(told[1]).toMatchObject({ ...{ attempt: 2, max_attempts: 3, worker_id: 'worker-2', result: null } });
    expect(told[1]).toMatchObject({ ...{ payload: '{"n":1,"é":"😀\\\\\'"}', headers: '{"h":"1"}' } });
    expect(told[1]).toMatchObject({ options: '{"timeoutMs":1}', error: expect.stringContaining('no 1 ü') });
    expect(told[2]).toMatchObject({ attempt: 1, max_attempts: 6, headers: null, options: null, error: null });
    for (const row of kept) {
      expect(row.created_at).toBe(createdAt.get(row.id));
      expect(row.finished_at - row.started_at).toBe(40);
      expect(row.expires_at - row.finished_at).toBe(3_600_000);
    }
    expect(await sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
  });

  it('are stored each with its own values beside different completions of the same batch', async () => {
    const { put, claim, jobs, admin, sql } = await setup();
    await put(...Array.from({ length: 60 }, (_, n) => ({ payload: `${n}` })));
    const [a, b] = [await claim({ limit: 30 }), await claim({ limit: 30, workerId: 'worker-2' })];
    const ways = (job: Completion['job'], n: number): Partial<Completion> & Pick<Completion, 'outcome'> => {
      if (n < 8) return { outcome: outcomes.complete, ranMs: 5 };
      if (n < 16) return { outcome: outcomes.complete, ranMs: 6 };
      if (n < 24) return { outcome: outcomes.complete, ranMs: 6, retentionMs: 120_000 };
      if (n < 27) return { outcome: { kind: 'complete', result: `${job.id}` }, ranMs: 5 };
      return { outcome: n % 2 ? outcomes.dead : outcomes.cancel, ranMs: 5 };
    };
    const all = [...a.jobs, ...b.jobs].map((job, n) => {
      const { outcome, ...given } = ways(job, n % 30);
      return completionOf(n < 30 ? a : b, job, outcome, given);
    });

    await jobs.complete(completionBatchOf(all));

    const records = (await admin.find({ queue: 'q' }, { order: 'oldest', limit: 100 })).jobs;
    const kept = await rows(sql, 'history');
    expect(records).toHaveLength(60);
    for (const [n, record] of records.entries()) {
      const { outcome, ranMs, retentionMs, workerId } = all[n]!;
      const state = { complete: 'completed', dead: 'dead', cancel: 'cancelled' }[outcome.kind as 'complete'];
      const result = outcome.kind === 'complete' && outcome.result !== null ? record.id : null;
      expect(record).toMatchObject({ payload: n, state, result, worker: workerId, attempt: 1 });
      expect(kept[n]!.finished_at - kept[n]!.started_at).toBe(ranMs);
      expect(kept[n]!.expires_at - kept[n]!.finished_at).toBe(retentionMs);
    }
  });

  it('are stored without a job that was lost, which stays with its owner', async () => {
    const { put, claim, jobs, admin, sql } = await setup();
    const ids = await put(...Array.from({ length: 12 }, () => ({})));
    const taken = await claim({ limit: 12 });
    const gone = taken.jobs[5]!;
    await jobs.complete(completionBatchOf([completionOf(taken, gone, outcomes.release)]));
    await claim({ workerId: 'owner' });

    const { lost } = await jobs.complete(finalBatchOf(taken));

    expect(Array.from(lost, ({ job }) => job.id)).toEqual([gone.id]);
    expect(await admin.get(gone.id)).toMatchObject({ state: 'active', worker: 'owner', attempt: 1 });
    const kept = await rows(sql, 'history');
    expect(kept.map(({ id }) => id)).toEqual(ids.filter((id) => id !== gone.id));
  });

  it('are rejected if the worker has lost all their jobs', async () => {
    const { put, claim, jobs, advance, admin, sql } = await setup();
    await put(...Array.from({ length: 12 }, () => ({})));
    const late = await claim({ limit: 12 });
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());
    await claim({ limit: 12, workerId: 'owner' });

    const { lost } = await jobs.complete(finalBatchOf(late));

    expect(lost.size).toBe(12);
    expect(await admin.counts('q')).toMatchObject({ active: 12, completed: 0 });
    expect(await sql('SELECT id FROM sql_queue_history')).toEqual([]);
  });

  it('are stored once if the batch is repeated', async () => {
    const world = await setup();
    const { put, claim, jobs, sql } = world;
    await put(...Array.from({ length: 12 }, () => ({})));
    const taken = await claim({ limit: 12 });
    await jobs.complete(finalBatchOf(taken));
    const before = await rows(sql, 'history');

    const { lost } = await jobs.complete({ ...finalBatchOf(taken), mayHaveCommitted: true });

    expect([...lost]).toEqual([]);
    expect(await rows(sql, 'history')).toEqual(before);
  });

  it('store no history without retention, beside completions with retention', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put(...Array.from({ length: 24 }, () => ({})));
    const taken = await claim({ limit: 24 });

    await jobs.complete(
      completionBatchOf(
        taken.jobs.map((job, n) => completionOf(taken, job, outcomes.complete, n % 2 ? { retentionMs: false } : {})),
      ),
    );

    const kept = await rows(sql, 'history');
    expect(kept.map(({ id }) => id)).toEqual(idsOf(taken.jobs.filter((_, n) => n % 2 === 0)));
    expect(await sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
  });

  it('store no start time for jobs that never started', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put(...Array.from({ length: 10 }, () => ({})));

    await jobs.complete(finalBatchOf(await claim({ limit: 10 }), outcomes.complete, { ranMs: null }));

    const kept = await sql<{ started_at: number | null }>('SELECT started_at FROM sql_queue_history');
    expect(kept).toEqual(Array.from({ length: 10 }, () => ({ started_at: null })));
  });
});

function failure(n: number) {
  return { ...outcomes.retry, error: { name: 'Error', message: `no ${n} ü` } };
}

/** Returns jobs of which every second one has all optional fields. */
function twelve() {
  return Array.from({ length: 12 }, (_, n) =>
    newJob({
      name: `name-${n}`,
      payload: `{"n":${n},"é":"😀\\\\'"}`,
      ...(n % 2 ? { headers: `{"h":"${n}"}`, overrides: `{"timeoutMs":${n}}`, maxAttempts: 3 } : {}),
    }),
  );
}

async function rows(sql: World['sql'], table: 'jobs' | 'history'): Promise<HistoryRow[]> {
  const found = await sql<HistoryRow>(`SELECT * FROM sql_queue_${table} ORDER BY id`);
  const numbers = ['id', 'created_at', 'started_at', 'finished_at', 'expires_at'];
  return found.map((row) => ({ ...row, ...Object.fromEntries(numbers.map((name) => [name, Number(row[name])])) }));
}

function withoutTimes(row: HistoryRow): Record<string, unknown> {
  const { id: _id, created_at: _c, started_at: _s, finished_at: _f, expires_at: _e, ...told } = row;
  return told;
}
