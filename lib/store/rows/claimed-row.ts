import { NO_ERRORS } from '../../job/stored-error.js';
import { MalformedJobError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import type { ClaimedJob } from '../../job/job.js';
import {
  MAX_TIMESTAMP_MS,
  readDate,
  readErrors,
  readOverrides,
  type ColumnProblem,
  type ReadOverrides,
} from '../../job/read-columns.js';
import { isName, isWhole, NAME_EXPECTED, safeId, idsOf } from '../../job/identifiers.js';
import type { TableRow } from '../tables/table-schemas.js';
import { claimLeaseMs, countStartable, inStartOrder, isPoisonCandidate } from '../../job/outcome.js';
import type { ClaimRequest, ClaimDatabase, QueuePosition } from './claim.js';
import { jobEventsOf } from '../core/event-outbox.js';
import {
  Ids,
  executeFinal,
  recordEvents,
  queryIds,
  statement,
  readTime,
  type Statement,
  type Work,
} from '../core/statement.js';

export const CLAIMED_COLUMNS =
  'id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key';

export type ClaimedRow = Omit<TableRow<'jobs'>, 'queue' | 'state' | 'runnable' | 'run_at' | 'claim_id'>;

// A larger value than an INT holds would fail the whole claim. An attempt must stay below it, because a claim adds one.
const MAX_ATTEMPT = 2 ** 31 - 1;
export const NEXT_ATTEMPT = `CASE WHEN attempt < ${MAX_ATTEMPT} THEN attempt + 1 ELSE ${MAX_ATTEMPT} END`;
export const REFUNDED_ATTEMPT = `CASE WHEN attempt > 0 THEN attempt - :refund ELSE 0 END`;

// Most jobs have neither options nor an earlier error, so no object is created for them.
const NO_OVERRIDES: ReadOverrides = { overrides: null };
const NO_EARLIER_ERRORS = { last: null, all: NO_ERRORS };

/** A job whose row was locked before its claim counts the attempt. */
export function toJobBeforeClaim(row: ClaimedRow, queue: string, maxAttempts: number): ClaimedJob {
  return toClaimedJob(row, queue, maxAttempts, row.attempt + 1);
}

/** A job without a claim that ends without a run. It keeps the attempt of its row. */
export function toIdleJob(row: ClaimedRow, queue: string): ClaimedJob {
  return { ...toJobBeforeClaim(row, queue, row.max_attempts || 1), attempt: row.attempt };
}

/**
 * A job whose row was read after its claim had counted the attempt.
 *
 * @param maxAttempts the limit of a row without one. By default such a job has no attempt left.
 */
export function toClaimedJob(
  row: ClaimedRow,
  queue: string,
  maxAttempts = row.attempt,
  attempt = row.attempt,
): ClaimedJob {
  const options = row.options === null ? NO_OVERRIDES : readOverrides(row.options);
  const problem = columnProblem(row, attempt, options);
  const id = safeId(row.id);
  if (problem) {
    const error = new MalformedJobError(id, queue, problem.column, problem.problem);
    return toMalformedJob(row, attempt, maxAttempts, error);
  }
  const errors = row.error === null ? NO_EARLIER_ERRORS : readErrors(row.error);
  return {
    id,
    queue,
    name: row.name,
    priority: row.priority,
    attempt,
    maxAttempts: row.max_attempts || maxAttempts,
    createdAtMs: Number(row.created_at),
    dueAtMs: row.due_at === null ? null : readDate(row.due_at),
    payload: row.payload,
    headers: row.headers,
    overrides: (options as { overrides: ClaimedJob['overrides'] }).overrides,
    lastError: errors.last,
    errors: errors.all,
    group: row.group_key === '' ? null : row.group_key,
  };
}

/** The columns that a run needs, as the driver returns them. */
interface JobColumns {
  readonly name: unknown;
  readonly priority: unknown;
  readonly max_attempts: unknown;
  readonly created_at: unknown;
  readonly payload: unknown;
  readonly headers: unknown;
}

/**
 * The first malformed column. Runs for every claimed job, so it only compares and parses nothing.
 *
 * @param attempt the number of the current or the next run
 * @param options the options of the row
 */
export function columnProblem(row: JobColumns, attempt: number, options: ReadOverrides): ColumnProblem | undefined {
  if ('problem' in options) return { column: 'options', problem: options.problem };
  const { name, priority, max_attempts, created_at, payload, headers } = row;
  if (!isName(name)) return unexpectedColumn('name', NAME_EXPECTED, name);
  if (!isWhole(priority, -32_768, 32_767))
    return unexpectedColumn('priority', 'a whole number from -32768 to 32767', priority);
  if (!isWhole(attempt, 1, MAX_ATTEMPT - 1))
    return unexpectedColumn('attempt', `its run to be number 1 to ${MAX_ATTEMPT - 1}`, attempt);
  if (max_attempts !== null && !isWhole(max_attempts, 0, MAX_ATTEMPT))
    return unexpectedColumn('max_attempts', 'NULL or a whole number of 0 or more', max_attempts);
  if (!isWhole(Number(created_at), -MAX_TIMESTAMP_MS, MAX_TIMESTAMP_MS))
    return unexpectedColumn('created_at', 'milliseconds since 1970 that make a date', created_at);
  if (typeof payload !== 'string') return unexpectedColumn('payload', 'a text', payload);
  if (headers !== null && typeof headers !== 'string') return unexpectedColumn('headers', 'NULL or a text', headers);
  return undefined;
}

function unexpectedColumn(column: string, what: string, value: unknown): ColumnProblem {
  return { column, problem: expected(false, what, value)! };
}

/** Replaces invalid values by values that the history accepts. */
function toMalformedJob(row: ClaimedRow, attempt: number, maxAttempts: number, error: MalformedJobError): ClaimedJob {
  const { jobId: id, queue } = error;
  return {
    ...{ id, queue, name: toText(row.name), payload: toText(row.payload), overrides: null, lastError: null },
    errors: NO_ERRORS,
    group: row.group_key ? toText(row.group_key) : null,
    priority: integerInRangeOr(row.priority, -32_768, 32_767, 0),
    attempt: integerInRangeOr(attempt, 1, MAX_ATTEMPT, 1),
    maxAttempts: integerInRangeOr(row.max_attempts, 1, MAX_ATTEMPT, maxAttempts),
    createdAtMs: integerInRangeOr(Number(row.created_at), 0, Number.MAX_SAFE_INTEGER, 0),
    dueAtMs: null,
    headers: row.headers === null ? null : toText(row.headers),
    malformed: error,
  };
}

// SQLite stores a value of any type in any column.
function toText(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : String(value);
}

function integerInRangeOr(value: unknown, least: number, most: number, otherwise: number): number {
  return isWhole(value, least, most) ? value : otherwise;
}

export const MARK = `
  SET state = 'active', claim_id = :claimId, attempt = ${NEXT_ATTEMPT},
      max_attempts = COALESCE(NULLIF(max_attempts, 0), :maxAttempts)`;

const MARK_LOCKED = `
  UPDATE {jobs} {by primary} ${MARK}
  WHERE :ids AND state = 'waiting'`;

const MARKED = `
  SELECT id
  FROM {jobs} {by primary}
  WHERE :ids AND claim_id = :claimId`;

/** @param last the last of the jobs, if they are the first ones of their queue, in their order */
export function* claimLocked(
  request: ClaimRequest,
  rows: readonly ClaimedRow[],
  last?: QueuePosition,
): Work<ClaimedJob[]> {
  if (rows.length === 0) return [];
  const { claimId, maxAttempts } = request;
  const ids = new Ids(idsOf(rows));
  const jobs = yield* claimedJobs(request, rows, toJobBeforeClaim);
  const mark = statement(MARK_LOCKED, { claimId, maxAttempts, ids });
  const also = request.alsoWrites?.(jobs.length) ?? [];
  const [marked] = yield* executeFinal([mark, insertClaim(request, jobs, last), ...also]);
  if (marked!.affectedRows === rows.length) return jobs;
  // Cannot happen while the rows are locked. Keeps only the jobs that the UPDATE has marked.
  const ours = new Set(yield* queryIds(MARKED, { ids, claimId }));
  return jobs.filter(({ id }) => ours.has(id));
}

export function* writeClaim(request: ClaimRequest, marked: readonly ClaimedRow[]): Work<ClaimedJob[]> {
  if (marked.length === 0) return [];
  const jobs = yield* claimedJobs(request, marked);
  yield* executeFinal([insertClaim(request, jobs), ...(request.alsoWrites?.(jobs.length) ?? [])]);
  return jobs;
}

/** The jobs in the order in which they start. Reports their events. */
export function* claimedJobs(
  { queue, maxAttempts, owner }: ClaimRequest,
  rows: readonly ClaimedRow[],
  toJob: (row: ClaimedRow, queue: string, maxAttempts: number) => ClaimedJob = toClaimedJob,
): Work<ClaimedJob[]> {
  const jobs = yield* markExpired(inStartOrder(rows.map((row) => toJob(row, queue, maxAttempts))));
  yield* recordEvents(jobEventsOf('claimed', jobs, owner));
  return jobs;
}

/** Marks the jobs that no worker has started within their `expiresIn`. Costs a read if a job of the claim has one. */
function* markExpired(jobs: ClaimedJob[]): Work<ClaimedJob[]> {
  if (!jobs.some(mayExpire)) return jobs;
  const nowMs = yield* readTime();
  const isExpired = ({ createdAtMs, overrides }: ClaimedJob) => createdAtMs + overrides!.expiresInMs! < nowMs;
  return jobs.map((job) => (mayExpire(job) && isExpired(job) ? { ...job, isExpired: true } : job));
}

/** A job that runs again has started in time. Of one whose first attempt is refunded, the row has no `expiresIn` any more. */
export function mayExpire({ attempt, overrides }: ClaimedJob): boolean {
  return attempt === 1 && overrides?.expiresInMs !== undefined;
}

const ADD_CLAIM = `
  INSERT INTO {claims} (id, worker_id, queue, job_ids, start_limit, lock_id, lease_ms, lease_until, claimed_at, dead_letter, last_priority, last_id)
  VALUES (:claimId, :workerId, :queue, :jobIds, :startLimit, :lockId, :leaseMs, :now + :leaseMs, :now, :deadLetter, :lastPriority, :lastId)`;

const LIST_JOBS = `
  UPDATE {claims} {by primary}
  SET job_ids = :jobIds, start_limit = :startLimit, lease_ms = :leaseMs, lease_until = :now + :leaseMs
  WHERE id = :claimId AND lease_until > :now`;

export function insertClaim(request: ClaimRequest, jobs: readonly ClaimedJob[], last?: QueuePosition): Statement {
  const { claimId, workerId, queue, lockId = 0 } = request;
  const leaseMs = claimLeaseMs(request.leaseMs, jobs);
  const deadLetter = request.deadLetter || null;
  const position = { lastPriority: last?.priority ?? null, lastId: last?.id ?? null };
  const values = { claimId, workerId, queue, leaseMs, lockId, deadLetter, ...position, ...jobListOf(request, jobs) };
  return statement(ADD_CLAIM, values);
}

/** Lists the jobs of a claim whose row was written before its jobs were known. */
export function setClaimJobs(request: ClaimRequest, jobs: readonly ClaimedJob[]): Statement {
  const leaseMs = claimLeaseMs(request.leaseMs, jobs);
  return statement(LIST_JOBS, { claimId: request.claimId, leaseMs, ...jobListOf(request, jobs) });
}

function jobListOf(request: ClaimRequest, jobs: readonly ClaimedJob[]): { startLimit: number; jobIds: string } {
  const startLimit = Math.min(request.startLimit, countStartable(jobs.map(isPoisonCandidate)));
  return { startLimit, jobIds: JSON.stringify(jobs.map(({ id }) => id)) };
}

/** Claims in one transaction, exactly once if the request asks for that. */
export function transactClaim(
  { once }: ClaimRequest,
  database: ClaimDatabase,
  claim: () => Work<ClaimedJob[]>,
): Promise<ClaimedJob[]> {
  return once ? database.transactOnce(claim, (jobs) => jobs.length > 0) : database.transaction(claim);
}
