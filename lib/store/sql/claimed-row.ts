import type { ClaimedJob } from '../../job/job.js';
import type { JobOverrides } from '../../job/enqueue-options.js';
import type { StoredError } from '../../job/stored-error.js';

/** The columns a worker needs of a job. */
export interface ClaimedRow {
  id: number;
  name: string;
  priority: number;
  attempt: number;
  max_attempts: number | null;
  created_at: number;
  payload: string;
  headers: string | null;
  options: string | null;
  error: string | null;
}

export const CLAIMED_COLUMNS =
  'id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error';

/**
 * @param maxAttempts for a job that does not say how often it may be tried
 * @param attempt where the row was read before the claim has counted it
 */
export function claimedJob(
  row: ClaimedRow,
  queue: string,
  maxAttempts: number,
  attempt: number = row.attempt,
): ClaimedJob {
  return {
    id: safeId(row.id),
    queue,
    name: row.name,
    priority: row.priority,
    attempt,
    maxAttempts: row.max_attempts || maxAttempts,
    createdAtMs: Number(row.created_at),
    payload: row.payload,
    headers: row.headers,
    overrides: parseOr<JobOverrides>(row.options),
    lastError: parseOr<StoredError>(row.error),
  };
}

/** The ids of jobs are numbers; above 2^53 a number would be another job's. */
export function safeId(id: unknown): number {
  const number = Number(id);
  if (!Number.isSafeInteger(number)) throw new RangeError(`Expected job ids up to 2^53, got ${String(id)}.`);
  return number;
}

/** What a foreign INSERT wrote there may be anything. */
export function parseOr<T>(text: string | null): T | null {
  if (text === null) return null;
  try {
    return JSON.parse(text) as T | null;
  } catch {
    return null;
  }
}
