import { MAX_TIMESTAMP_MS, readIds } from '../../job/read-columns.js';
import type { ClaimLease } from './claim.js';
import { isLockWaitTimeout } from '../core/classify-error.js';
import { deleteFrom, execute, query, queryIds, type Work } from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';
import { IN_QUEUE } from '../tables/runnable.js';

// A lease length that another program has written could overflow, which would fail the renewal of all leases of the
// worker. A length out of range counts as the default one.
const MAX_LEASE_MS = 100 * 365 * 86_400_000;
const FALLBACK_LEASE_MS = 30_000;

/**
 * Whether the lease ends later than its length permits, because the server clock was set back after it was written. One
 * second of tolerance covers claims that commit while the statement starts to read. A lease without an end has the
 * length 0. The lease of a snoozed job starts when the owner has the job back.
 */
export const IS_AHEAD_OF_CLOCK = `CASE WHEN lease_ms BETWEEN 1 AND ${MAX_LEASE_MS}
       THEN lease_until > CASE WHEN snoozed_until BETWEEN :now AND ${MAX_TIMESTAMP_MS} THEN snoozed_until ELSE :now END + lease_ms + 1000
       ELSE 0 END = 1`;

export const LEASE_LENGTH = `CASE WHEN lease_ms BETWEEN 0 AND ${MAX_LEASE_MS} THEN lease_ms ELSE ${FALLBACK_LEASE_MS} END`;

/** Whether no rescue has taken a job of the claim. Its lease may have expired. */
export const IS_NOT_RESCUED = 'lease_until > 0';

const END_LEASE = `
  UPDATE {claims} {by primary}
  SET lease_until = 0
  WHERE id = :claimId`;

// Renews an expired lease too, if no rescue has taken a job of the claim: then the worker stood still, and still has all
// its jobs. A rescue locks the claim, and deletes it or ends its lease for good.
const EXTEND = `
  UPDATE {claims} {by primary}
  SET lease_until = :now + ${LEASE_LENGTH}
  WHERE id IN (:ids) AND ${IS_NOT_RESCUED}`;

const UNLOCKED_CLAIMS = `
  SELECT id
  FROM {claims} {by primary}
  WHERE id IN (:ids) AND ${IS_NOT_RESCUED}
  ORDER BY id {lock free}`;

const VALID_CLAIMS = `
  SELECT id, cancel_requests
  FROM {claims}
  WHERE id IN (:ids) AND ${IS_NOT_RESCUED}`;

const CLAIMS_BY_ID = `
  SELECT id, queue, job_ids
  FROM {claims}
  WHERE id IN (:ids)`;

const HAS_CLAIMED_JOB = `
  SELECT 1 AS one
  FROM {jobs}
  WHERE id IN (:jobIds) AND claim_id = :claimId
  LIMIT 1`;

// Only for a claim that does not list its jobs yet, because it reads the whole queue.
const CLAIMED_JOBS = `
  SELECT id
  FROM {jobs} {by jobs.queue}
  WHERE queue = :queue AND runnable = ${IN_QUEUE} AND run_at IS NULL AND state = 'active' AND claim_id = :claimId`;

// Only for a claim whose list another program has damaged, because it uses no index.
const CLAIMED_JOBS_WITHOUT_INDEX = `
  SELECT id
  FROM {jobs}
  WHERE claim_id = :claimId
  ORDER BY id`;

const DELETE_CLAIM = deleteFrom('claims', 'id = :claimId');

export type ListedClaim = Pick<TableRow<'claims'>, 'id' | 'queue' | 'job_ids'>;

/** For a claim whose list is empty or damaged: the jobs that have the id of the claim. */
export function findClaimedJobs({ id, queue, job_ids }: ListedClaim): Work<readonly { id: number }[]> {
  const claimId = Number(id);
  return readIds(job_ids) ? query(CLAIMED_JOBS, { queue, claimId }) : query(CLAIMED_JOBS_WITHOUT_INDEX, { claimId });
}

/** The jobs of the claim that may have started. Undefined, for all of them, if another program has damaged its row. */
export function startedIdsOf(
  claim: Pick<TableRow<'claims'>, 'job_ids' | 'start_limit'>,
): readonly number[] | undefined {
  const listed = readIds(claim.job_ids);
  // No job starts before its claim lists it.
  return listed && claim.start_limit >= 0 ? listed.slice(0, claim.start_limit) : undefined;
}

export function* extend(ids: readonly number[]): Work<ClaimLease[]> {
  if (ids.length === 0) return [];
  const inOrder = [...ids].sort((a, b) => a - b);
  const notRenewed = yield* renew(inOrder);
  const rows = yield* query<{ id: number; cancel_requests: string | null }>(VALID_CLAIMS, { ids: inOrder });
  return rows.map(({ id, cancel_requests }) => ({
    claimId: Number(id),
    cancelRequested: readIds(cancel_requests) ?? [],
    ...(notRenewed.has(Number(id)) && { isLocked: true }),
  }));
}

/** Returns the claims that were not renewed, because they are locked, for example by a flush, or rescued. */
function* renew(ids: readonly number[]): Work<ReadonlySet<number>> {
  try {
    yield* execute(EXTEND, { ids });
    return new Set();
  } catch (error) {
    if (!isLockWaitTimeout(error)) throw error;
  }
  const unlocked = yield* findUnlockedClaims(ids);
  if (unlocked.length > 0) yield* execute(EXTEND, { ids: unlocked });
  const renewed = new Set(unlocked);
  return new Set(ids.filter((id) => !renewed.has(id)));
}

/** The claims that no rescue has taken and no transaction has locked. The next statement frees the locks of this one. */
export function findUnlockedClaims(ids: readonly number[]): Work<number[]> {
  return queryIds(UNLOCKED_CLAIMS, { ids });
}

/** Returns the claims that still have jobs. A job whose claim is deleted too early would stay active for ever. */
export function* deleteEmptyClaims(ids: readonly number[]): Work<number[]> {
  if (ids.length === 0) return [];
  const remaining: number[] = [];
  for (const claim of yield* query<ListedClaim>(CLAIMS_BY_ID, { ids })) {
    const claimId = Number(claim.id);
    const listed = readIds(claim.job_ids);
    const claimedJobs = yield* listed?.length
      ? query(HAS_CLAIMED_JOB, { claimId, jobIds: listed })
      : findClaimedJobs(claim);
    if (claimedJobs.length === 0) yield* deleteClaim(claimId);
    else remaining.push(claimId);
  }
  return remaining;
}

/** The lease of the claim has expired and is never renewed: other workers have some of its jobs. */
export function* endLease(claimId: number): Work<void> {
  yield* execute(END_LEASE, { claimId });
}

export function* deleteClaim(claimId: number): Work<void> {
  yield* execute(DELETE_CLAIM, { claimId });
}
