import { insertInChunks, type SqlValue, type Work } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';
import type { ErrorsRow } from './metrics-store.js';

export type StoredErrors = TableRow<'errors'>;

export const ERRORS_COLUMNS = 'queue, step_ms, starts_at, recorder, error, failed, dead, first_at, last_at, job_id';

const WRITE = `
  REPLACE INTO {errors} (${ERRORS_COLUMNS})
  VALUES :rows(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export function toErrorsRow(row: StoredErrors): ErrorsRow {
  return {
    queue: row.queue,
    stepMs: Number(row.step_ms),
    startsAtMs: Number(row.starts_at),
    recorder: Number(row.recorder),
    error: String(row.error),
    failed: Number(row.failed),
    dead: Number(row.dead),
    firstAtMs: Number(row.first_at),
    lastAtMs: Number(row.last_at),
    jobId: Number(row.job_id),
  };
}

export function* writeErrors(rows: readonly ErrorsRow[]): Work<void> {
  yield* insertInChunks(WRITE, rows.map(toValues));
}

function toValues(row: ErrorsRow): SqlValue[] {
  const { queue, stepMs, startsAtMs, recorder, error, failed, dead, firstAtMs, lastAtMs, jobId } = row;
  return [queue, stepMs, startsAtMs, recorder, error, failed, dead, firstAtMs, lastAtMs, jobId];
}
