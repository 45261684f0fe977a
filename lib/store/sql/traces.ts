import { isWhole } from '../../job/expectation.js';
import type { Trace } from '../trace-store.js';
import { rowChunks } from './row-chunks.js';
import { change, query, Rows, together, type SqlValue, type Statement, type Work } from './statement.js';

const MOST_LINES = 1_000;
// When it is looked for the first time whether anything is left of the job.
const LOOK_AFTER_MS = 600_000;

// These tables stand behind the history in the order in which all lock.
const LOCK_TOLD = `
  SELECT job_id, value, lines_logged
  FROM {progress} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id IN (:ids)
  ORDER BY job_id /*! FOR UPDATE */`;

// Without a lock: a process whose event loop is blocked in the midst of this would keep it, and its own heartbeat's thread
// could not renew the lease. Read under the lock of what was told, so that whatever a next run tells comes after this.
const HOLDING = `
  SELECT id
  FROM {claims}
  WHERE id IN (:claimIds) AND lease_until > :now`;

// What nobody had told is not locked. Where the next run has told something meanwhile, this is refused.
const TELL_FIRST = `
  INSERT INTO {progress} (job_id, value, lines_logged, updated_at, expires_at)
  VALUES :rows`;

const TELL = `
  REPLACE INTO {progress} (job_id, value, lines_logged, updated_at, expires_at)
  VALUES :rows`;

const TOLD = `(?, ?, ?, :now, :now + ${LOOK_AFTER_MS})`;

const LOG = `
  INSERT INTO {logs} (job_id, number, logged_at, line)
  VALUES :rows`;

const LOGGED = `(?, ?, :now - ?, ?)`;

const PROGRESS_OF = `
  SELECT job_id, value
  FROM {progress}
  WHERE job_id IN (:ids) AND value IS NOT NULL`;

const TRACED = `
  SELECT job_id
  FROM {progress}
  WHERE job_id IN (:ids)`;

// Passes over rows that another transaction has locked, however many, so that they keep no others.
const EXPIRED = `
  SELECT job_id
  FROM {progress} /*! FORCE INDEX ({progress}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

// One statement, so that a job on its way to the history is seen in one of the two.
const LEFT = `
  SELECT id, expires_at
  FROM {history}
  WHERE id IN (:ids)
  UNION ALL
  SELECT id, :now + ${LOOK_AFTER_MS}
  FROM {jobs}
  WHERE id IN (:ids)`;

const LOOK_LATER = `
  UPDATE {progress} /*! FORCE INDEX (PRIMARY) */
  SET expires_at = :at
  WHERE job_id IN (:ids)`;

// The conditions that always hold keep both servers from reading a small table whole: see STRIKE in waits.ts.
const FORGET_PROGRESS = `
  DELETE /*! {progress} */ FROM {progress} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id IN (:ids) AND updated_at > 0`;

const FORGET_LINES = `
  DELETE /*! {logs} */ FROM {logs} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id = :id AND number >= 1 AND logged_at > 0`;

interface Told {
  job_id: number;
  value: string | null;
  lines_logged: number;
}

export function* trace(traces: readonly Trace[]): Work<void> {
  const [before, claims] = yield* together([
    { sql: LOCK_TOLD, values: { ids: sorted(traces.map(({ jobId }) => jobId)) } },
    { sql: HOLDING, values: { claimIds: sorted(traces.map(({ claimId }) => claimId)) } },
  ]);
  const held = new Set(claims!.rows.map(({ id }) => Number(id)));
  const ours = traces.filter(({ claimId }) => held.has(claimId)).sort((a, b) => a.jobId - b.jobId);
  const told = new Map((before!.rows as unknown as readonly Told[]).map((row) => [Number(row.job_id), row]));
  const first: SqlValue[][] = [];
  const more: SqlValue[][] = [];
  const logged: SqlValue[][] = [];
  for (const { jobId, value, lines } of ours) {
    const last = told.get(jobId);
    const from = linesOf(last);
    (last ? more : first).push([jobId, value ?? last?.value ?? null, from + lines.length]);
    lines.forEach(({ text, agoMs }, index) => {
      const number = from + index + 1;
      if (number <= MOST_LINES) logged.push([jobId, number, Math.round(agoMs), text]);
    });
  }
  for (const chunk of rowChunks(first)) yield* change(TELL_FIRST, { rows: new Rows(TOLD, chunk) });
  for (const chunk of rowChunks(more)) yield* change(TELL, { rows: new Rows(TOLD, chunk) });
  for (const chunk of rowChunks(logged)) yield* change(LOG, { rows: new Rows(LOGGED, chunk) });
}

/** What another program has written there must not keep runs from saying more. */
function linesOf(told: Told | undefined): number {
  return isWhole(told?.lines_logged, 0, 2 ** 30) ? told.lines_logged : told ? MOST_LINES : 0;
}

export function* progressOf(ids: readonly number[]): Work<Map<number, string>> {
  const rows = yield* query<{ job_id: number; value: string }>(PROGRESS_OF, { ids });
  return new Map(rows.map((row) => [Number(row.job_id), row.value]));
}

/** Deletes what runs said of these jobs. Most said nothing. Lines are never without a row of progress. */
export function* forgetTraces(ids: readonly number[]): Work<void> {
  if (ids.length === 0) return;
  const rows = yield* query<{ job_id: number }>(TRACED, { ids });
  if (rows.length > 0) yield* together(forgetting(rows.map(({ job_id }) => Number(job_id))));
}

/** What runs said of these jobs, to be deleted. */
export function forgetting(ids: readonly number[]): Statement[] {
  const inOrder = sorted(ids);
  return [
    { sql: FORGET_PROGRESS, values: { ids: inOrder } },
    ...inOrder.map((id) => ({ sql: FORGET_LINES, values: { id } })),
  ];
}

/** Whether there is something to look at. The lock ends with the statement. */
export function* hasOldTraces(): Work<boolean> {
  return (yield* query(EXPIRED, { limit: 1 })).length > 0;
}

export function* pruneTraces(limit: number): Work<number> {
  const rows = yield* query<{ job_id: number }>(EXPIRED, { limit });
  if (rows.length === 0) return 0;
  const ids = sorted(rows.map(({ job_id }) => Number(job_id)));
  const left = yield* query<{ id: number; expires_at: number }>(LEFT, { ids });
  const until = new Map(left.map((row) => [Number(row.id), Number(row.expires_at) || 0]));
  const gone = ids.filter((id) => !until.has(id));
  // When the first of them is due. They were written at about the same time.
  if (until.size > 0) yield* change(LOOK_LATER, { ids: sorted([...until.keys()]), at: Math.min(...until.values()) });
  if (gone.length > 0) yield* together(forgetting(gone));
  return ids.length;
}

function sorted(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
