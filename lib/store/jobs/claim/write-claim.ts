import type { ClaimedJob } from '../../../job/job.js';
import { inStartOrder } from '../../../job/outcome.js';
import type { ClaimRequest } from '../job-store.js';
import { toClaimedJob, toJobBeforeClaim, NEXT_ATTEMPT, type ClaimedRow } from '../claimed-row.js';
import { idsOf } from '../../core/safe-id.js';
import { markExpired } from './expired-jobs.js';
import { insertClaim } from '../lease.js';
import { jobEventsOf } from '../job-events.js';
import { Ids, executeFinal, emit, query, type Statement, type Work } from '../../core/statement.js';

export const MARK = `
  SET state = 'active', claim_id = :claimId, attempt = ${NEXT_ATTEMPT},
      max_attempts = COALESCE(NULLIF(max_attempts, 0), :maxAttempts)`;

const MARK_LOCKED = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */ ${MARK}
  WHERE :ids AND state = 'waiting'`;

const MARKED = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId`;

export function* claimLocked(request: ClaimRequest, rows: readonly ClaimedRow[]): Work<ClaimedJob[]> {
  if (rows.length === 0) return [];
  const { claimId, maxAttempts } = request;
  const ids = new Ids(idsOf(rows));
  const jobs = yield* markExpired(inStartOrder(rows.map((row) => toJobBeforeClaim(row, request.queue, maxAttempts))));
  yield* emit(jobEventsOf('claimed', jobs, request.owner));
  const mark = { sql: MARK_LOCKED, values: { claimId, maxAttempts, ids } };
  const [marked] = yield* executeFinal([mark, insertClaim(request, jobs), ...alsoWritten(request, jobs)]);
  if (marked!.affectedRows === rows.length) return jobs;
  // Cannot happen while the rows are locked. Keeps only the jobs that the UPDATE has marked.
  const ours = new Set((yield* query<{ id: number }>(MARKED, { ids, claimId })).map(({ id }) => id));
  return jobs.filter(({ id }) => ours.has(id));
}

export function* writeClaim(request: ClaimRequest, marked: readonly ClaimedRow[]): Work<ClaimedJob[]> {
  if (marked.length === 0) return [];
  const jobs = yield* markExpired(
    inStartOrder(marked.map((row) => toClaimedJob(row, request.queue, request.maxAttempts))),
  );
  yield* emit(jobEventsOf('claimed', jobs, request.owner));
  yield* executeFinal([insertClaim(request, jobs), ...alsoWritten(request, jobs)]);
  return jobs;
}

const NOTHING: readonly Statement[] = [];

function alsoWritten({ alsoWrites }: ClaimRequest, jobs: readonly ClaimedJob[]): readonly Statement[] {
  return alsoWrites ? alsoWrites(jobs.length) : NOTHING;
}
