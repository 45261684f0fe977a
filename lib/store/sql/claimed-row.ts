import { MalformedJobError, UnnameableIdError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import { columnProblem, readDate, readError, readOverrides, type ColumnProblem } from '../../job/read-columns.js';

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
  due_at: number | null;
}

export const CLAIMED_COLUMNS =
  'id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at';

// What no INT can hold would be refused, and with it the whole claim.
const LARGEST_ATTEMPT = 2 ** 31 - 1;
/** The next attempt of a job, in SQL. */
export const NEXT_ATTEMPT = `CASE WHEN attempt < ${LARGEST_ATTEMPT} THEN attempt + 1 ELSE ${LARGEST_ATTEMPT} END`;
/** The attempt of a job that gets `refund` runs back, in SQL. */
export const REFUNDED_ATTEMPT = `CASE WHEN attempt > 0 THEN attempt - :refund ELSE 0 END`;

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
  const read = readOverrides(row.options);
  const problem = 'problem' in read ? { column: 'options', problem: read.problem } : columnProblem(row, attempt);
  if (problem) return malformedJob(row, queue, maxAttempts, attempt, problem);
  return {
    id: safeId(row.id),
    queue,
    name: row.name,
    priority: row.priority,
    attempt,
    maxAttempts: row.max_attempts || maxAttempts,
    createdAtMs: Number(row.created_at),
    dueAtMs: readDate(row.due_at),
    payload: row.payload,
    headers: row.headers,
    overrides: (read as { overrides: ClaimedJob['overrides'] }).overrides,
    lastError: readError(row.error),
  };
}

/** A job that no run has, and that ends without one: it keeps the number of runs that its row says. */
export function idleJob(row: ClaimedRow, queue: string): ClaimedJob {
  return { ...claimedJob(row, queue, row.max_attempts || 1, row.attempt + 1), attempt: row.attempt };
}

/** A job that cannot run, with values in the history's reach for all that cannot be understood. */
function malformedJob(
  row: ClaimedRow,
  queue: string,
  maxAttempts: number,
  attempt: number,
  { column, problem }: ColumnProblem,
): ClaimedJob {
  const id = safeId(row.id);
  return {
    ...{ id, queue, name: text(row.name), payload: text(row.payload), overrides: null, lastError: null },
    priority: within(row.priority, -32_768, 32_767, 0),
    attempt: within(attempt, 1, LARGEST_ATTEMPT, 1),
    maxAttempts: within(row.max_attempts, 1, LARGEST_ATTEMPT, maxAttempts),
    createdAtMs: within(Number(row.created_at), 0, Number.MAX_SAFE_INTEGER, 0),
    dueAtMs: null,
    headers: row.headers === null ? null : text(row.headers),
    malformed: new MalformedJobError(id, queue, column, problem),
  };
}

/** The ids of jobs are numbers; above 2^53 a number would be another job's. */
export function safeId(id: unknown): number {
  const number = Number(id);
  if (!Number.isSafeInteger(number)) throw new UnnameableIdError(id);
  return number;
}

/** The rows that numbers can name. Lists leave out the others. */
export function nameable<Row extends { readonly id: unknown }>(rows: readonly Row[]): Row[] {
  return rows.filter(({ id }) => Number.isSafeInteger(Number(id)));
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

// SQLite keeps whatever is written into a column of any type.
function text(value: unknown): string {
  return typeof value === 'string'
    ? value
    : value instanceof Uint8Array
      ? Buffer.from(value).toString()
      : String(value);
}

function within(value: unknown, least: number, most: number, otherwise: number): number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
    ? (value as number)
    : otherwise;
}
