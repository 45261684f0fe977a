import { ascending } from '../core/safe-id.js';
import { execute, query, type Work } from '../core/statement.js';

const SIGNAL_RETENTION_MS = 30 * 86_400_000;
const CHECK_INTERVAL_MS = 3_600_000;

// Skips any number of locked rows, so that they do not delay the others. Reads the state because MySQL may read, and lock,
// a whole index that contains all columns of a query.
const EXPIRED = `
  SELECT job_id, state
  FROM {steps} /*! FORCE INDEX ({steps}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

// A finished job may be retried, and then goes on with its steps. One statement, so that a job that moves to the history
// is found in one of the two tables.
const REMAINING_JOBS = `
  SELECT id
  FROM {history}
  WHERE id IN (:ids)
  UNION ALL
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids)`;

// The conditions that are always true keep both servers from scanning a small table.
const POSTPONE_CHECK = `
  UPDATE {steps} /*! FORCE INDEX (PRIMARY) */
  SET expires_at = :now + ${CHECK_INTERVAL_MS}
  WHERE job_id = :id AND name > ''`;

const DELETE_STEPS = `
  DELETE /*! {steps} */ FROM {steps} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id = :id AND name > '' AND expires_at > 0`;

const OLD_SIGNALS = `
  SELECT hash
  FROM {signals} /*! FORCE INDEX ({signals}_sent) */
  WHERE sent_at <= :now - ${SIGNAL_RETENTION_MS}
  ORDER BY sent_at
  LIMIT :limit`;

const DELETE_SIGNAL = `
  DELETE /*! {signals} */ FROM {signals} /*! FORCE INDEX (PRIMARY) */
  WHERE hash = :hash AND sent_at <= :now - ${SIGNAL_RETENTION_MS}`;

/** The lock ends with the statement. */
export function* hasExpiredSteps(): Work<boolean> {
  return (yield* query(EXPIRED, { limit: 1 })).length > 0;
}

export function* pruneSteps(limit: number): Work<number> {
  const rows = yield* query<{ job_id: number }>(EXPIRED, { limit });
  if (rows.length === 0) return 0;
  const ids = ascending(rows.map(({ job_id }) => Number(job_id)));
  const remaining = new Set((yield* query<{ id: number }>(REMAINING_JOBS, { ids })).map(({ id }) => Number(id)));
  for (const id of ids) yield* execute(remaining.has(id) ? POSTPONE_CHECK : DELETE_STEPS, { id });
  return rows.length;
}

export function* pruneSignals(limit: number): Work<number> {
  const old = yield* query<{ hash: string }>(OLD_SIGNALS, { limit });
  for (const { hash } of old) yield* execute(DELETE_SIGNAL, { hash });
  return old.length;
}

export function* deleteSteps(jobIds: readonly number[]): Work<void> {
  for (const id of ascending(jobIds)) yield* execute(DELETE_STEPS, { id });
}
