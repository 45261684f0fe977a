import type { ClaimedJob } from '../../job/job.js';
import { inStartOrder } from '../../job/outcome.js';
import type { ClaimRequest } from './claim.js';
import { toClaimedJob, toJobBeforeClaim, NEXT_ATTEMPT, type ClaimedRow } from './claimed-row.js';
import { idsOf } from '../core/safe-id.js';
import { insertClaim } from './lease.js';
import { jobEventsOf } from './job-events.js';
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

export function* claimLocked(request: ClaimRequest, rows: readonly ClaimedRow[]): Work<ClaimedJob[]> {
  if (rows.length === 0) return [];
  const { claimId, maxAttempts } = request;
  const ids = new Ids(idsOf(rows));
  const jobs = yield* claimedJobs(request, rows, toJobBeforeClaim);
  const mark = statement(MARK_LOCKED, { claimId, maxAttempts, ids });
  const [marked] = yield* executeFinal([mark, insertClaim(request, jobs), ...alsoWritten(request, jobs)]);
  if (marked!.affectedRows === rows.length) return jobs;
  // Cannot happen while the rows are locked. Keeps only the jobs that the UPDATE has marked.
  const ours = new Set(yield* queryIds(MARKED, { ids, claimId }));
  return jobs.filter(({ id }) => ours.has(id));
}

export function* writeClaim(request: ClaimRequest, marked: readonly ClaimedRow[]): Work<ClaimedJob[]> {
  if (marked.length === 0) return [];
  const jobs = yield* claimedJobs(request, marked);
  yield* executeFinal([insertClaim(request, jobs), ...alsoWritten(request, jobs)]);
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

/** A job that runs again has started in time. */
function mayExpire({ attempt, overrides }: ClaimedJob): boolean {
  return attempt === 1 && overrides?.expiresInMs !== undefined;
}

const NOTHING: readonly Statement[] = [];

function alsoWritten({ alsoWrites }: ClaimRequest, jobs: readonly ClaimedJob[]): readonly Statement[] {
  return alsoWrites ? alsoWrites(jobs.length) : NOTHING;
}
