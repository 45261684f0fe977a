import type { ClaimedJob } from '../../job/job.js';
import { inStartOrder } from '../../job/outcome.js';
import type { ClaimRequest } from '../job-store.js';
import { claimedJob, NEXT_ATTEMPT, safeId, type ClaimedRow } from '../sql/claimed-row.js';
import { claimRow } from '../sql/lease.js';
import { changesOf } from '../sql/changes.js';
import { Ids, lastTogether, note, query, type Work } from '../sql/statement.js';

/** What a claim writes on a job. */
export const MARK = `
  SET state = 'active', claim_id = :claimId, attempt = ${NEXT_ATTEMPT},
      max_attempts = COALESCE(NULLIF(max_attempts, 0), :maxAttempts)`;

const MARK_LOCKED = `
  UPDATE {jobs} FORCE INDEX (PRIMARY) ${MARK}
  WHERE :ids AND state = 'waiting'`;

const MARKED = `
  SELECT id
  FROM {jobs} FORCE INDEX (PRIMARY)
  WHERE :ids AND claim_id = :claimId`;

/** Marks these jobs, which are locked, and writes their claim. */
export function* claimLocked(request: ClaimRequest, rows: readonly ClaimedRow[]): Work<ClaimedJob[]> {
  if (rows.length === 0) return [];
  const { claimId, maxAttempts } = request;
  const ids = new Ids(rows.map(({ id }) => safeId(id)));
  const jobs = inStartOrder(rows.map((row) => claimedJob(row, request.queue, maxAttempts, row.attempt + 1)));
  yield* note(changesOf('claimed', jobs, request.owner));
  const mark = { sql: MARK_LOCKED, values: { claimId, maxAttempts, ids } };
  const [marked] = yield* lastTogether([mark, claimRow(request, jobs)]);
  if (marked!.changed === rows.length) return jobs;
  // Never on a server that locks. Only what the UPDATE changed is ours.
  const ours = new Set((yield* query<{ id: number }>(MARKED, { ids, claimId })).map(({ id }) => id));
  return jobs.filter(({ id }) => ours.has(id));
}

/** Writes the claim of jobs that have been marked. */
export function* writeClaim(request: ClaimRequest, marked: readonly ClaimedRow[]): Work<ClaimedJob[]> {
  if (marked.length === 0) return [];
  const jobs = inStartOrder(marked.map((row) => claimedJob(row, request.queue, request.maxAttempts)));
  yield* note(changesOf('claimed', jobs, request.owner));
  yield* lastTogether([claimRow(request, jobs)]);
  return jobs;
}
