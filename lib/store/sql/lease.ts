import type { ClaimedJob } from '../../job/job.js';
import { LARGEST_DATE, readIds } from '../../job/read-columns.js';
import { isSuspect, startable } from '../../job/outcome.js';
import type { ClaimRequest, HeldLease } from '../job-store.js';
import { safeId } from './claimed-row.js';
import { isLockWait } from './remedy.js';
import { change, query, type Statement, type Work } from './statement.js';

// A length that another program has written could overflow, and then no lease of the worker's would be renewed: one outside these
// bounds counts as the usual one.
const LONGEST_LEASE_MS = 100 * 365 * 86_400_000;
const USUAL_LEASE_MS = 30_000;

/**
 * Whether the lease ends later than a lease of its length can: the server's clock has been set back since it was written.
 * A second is allowed for claims that commit while a statement begins to read. A lease without an end has the length 0. The
 * lease of a snoozed job begins when the owner has it back.
 */
export const IS_AHEAD = `CASE WHEN lease_ms BETWEEN 1 AND ${LONGEST_LEASE_MS}
       THEN lease_until > CASE WHEN snoozed_until BETWEEN :now AND ${LARGEST_DATE} THEN snoozed_until ELSE :now END + lease_ms + 1000
       ELSE 0 END = 1`;

/** The length of a claim's lease, in SQL. */
export const LEASE_LENGTH = `CASE WHEN lease_ms BETWEEN 0 AND ${LONGEST_LEASE_MS} THEN lease_ms ELSE ${USUAL_LEASE_MS} END`;

const ADD_CLAIM = `
  INSERT INTO {claims} (id, worker_id, queue, job_ids, started, lock_id, lease_ms, lease_until, claimed_at, dead_letter)
  VALUES (:claimId, :workerId, :queue, :jobIds, :started, :lockId, :leaseMs, :now + :leaseMs, :now, :deadLetter)`;

// A lapsed lease is never renewed: somebody may be taking its jobs at this moment.
const EXTEND = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET lease_until = :now + ${LEASE_LENGTH}
  WHERE id IN (:ids) AND lease_until > :now`;

const FREE = `
  SELECT id
  FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND lease_until > :now
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

const HELD = `
  SELECT id, cancelled
  FROM {claims}
  WHERE id IN (:ids) AND lease_until > :now`;

const RETIRABLE = `
  SELECT id, queue, job_ids
  FROM {claims}
  WHERE id IN (:ids)`;

const CARRIES = `
  SELECT 1 AS one
  FROM {jobs}
  WHERE id IN (:jobIds) AND claim_id = :claimId
  LIMIT 1`;

// Only for a claim that does not list its jobs yet: it reads the whole queue.
const CARRIERS = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX ({jobs}_claim) */
  WHERE queue = :queue AND runnable = 1 AND run_at IS NULL AND state = 'active' AND claim_id = :claimId`;

// Without any index: only for a claim whose list another program has damaged.
const ANY_CARRIERS = `
  SELECT id
  FROM {jobs}
  WHERE claim_id = :claimId
  ORDER BY id`;

const LIST_JOBS = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET job_ids = :jobIds, started = :started
  WHERE id = :claimId AND lease_until > :now`;

const END_CLAIM = `
  DELETE /*! {claims} */ FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :claimId`;

interface ListedClaim {
  readonly id: number;
  readonly queue: string;
  readonly job_ids: string;
}

export function claimRow(request: ClaimRequest, jobs: readonly ClaimedJob[]): Statement {
  const { claimId, workerId, queue, leaseMs, lockId = 0 } = request;
  const deadLetter = request.deadLetter || null;
  const values = { claimId, workerId, queue, leaseMs, lockId, deadLetter, ...listOf(request, jobs) };
  return { sql: ADD_CLAIM, values };
}

/** Names the jobs of a claim whose row was written before its jobs were known. */
export function listJobs(request: ClaimRequest, jobs: readonly ClaimedJob[]): Statement {
  return { sql: LIST_JOBS, values: { claimId: request.claimId, ...listOf(request, jobs) } };
}

function listOf(request: ClaimRequest, jobs: readonly ClaimedJob[]): { started: number; jobIds: string } {
  const started = Math.min(request.started, startable(jobs.map(isSuspect)));
  return { started, jobIds: JSON.stringify(jobs.map(({ id }) => id)) };
}

/** The ids that the claim lists, or those that carry its id if it lists none yet or its list is damaged. */
export function* jobsOf(claim: ListedClaim): Work<number[]> {
  const listed = readIds(claim.job_ids);
  if (listed?.length) return listed;
  return (yield* unlisted(claim)).map(({ id }) => safeId(id));
}

function unlisted({ id, queue, job_ids }: ListedClaim): Work<readonly { id: number }[]> {
  const claimId = Number(id);
  return readIds(job_ids) ? query(CARRIERS, { queue, claimId }) : query(ANY_CARRIERS, { claimId });
}

export function* extend(ids: readonly number[]): Work<HeldLease[]> {
  if (ids.length === 0) return [];
  const inOrder = [...ids].sort((a, b) => a - b);
  const left = yield* renew(inOrder);
  const rows = yield* query<{ id: number; cancelled: string | null }>(HELD, { ids: inOrder });
  return rows.map(({ id, cancelled }) => ({
    claimId: Number(id),
    cancelled: readIds(cancelled) ?? [],
    ...(left.has(Number(id)) && { isLocked: true }),
  }));
}

/** Answers those that are not renewed: locked, by a flush whose process computes, say, or lapsed. */
function* renew(ids: readonly number[]): Work<ReadonlySet<number>> {
  try {
    yield* change(EXTEND, { ids });
    return new Set();
  } catch (error) {
    if (!isLockWait(error)) throw error;
  }
  const free = yield* unlocked(ids);
  if (free.length > 0) yield* change(EXTEND, { ids: free });
  return new Set(ids.filter((id) => !free.includes(id)));
}

/** Those that hold and nobody has locked. What is locked here is free again with the next statement. */
export function* unlocked(ids: readonly number[]): Work<number[]> {
  return (yield* query<{ id: number }>(FREE, { ids })).map(({ id }) => Number(id));
}

/** The claim goes when none of its jobs carries it any more. One that still does would stay active for ever without it. */
export function* retire(ids: readonly number[]): Work<void> {
  if (ids.length === 0) return;
  for (const claim of yield* query<ListedClaim>(RETIRABLE, { ids })) {
    const claimId = Number(claim.id);
    const listed = readIds(claim.job_ids);
    const carriers = yield* listed?.length ? query(CARRIES, { claimId, jobIds: listed }) : unlisted(claim);
    if (carriers.length === 0) yield* endClaim(claimId);
  }
}

export function* endClaim(claimId: number): Work<void> {
  yield* change(END_CLAIM, { claimId });
}
