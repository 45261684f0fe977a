import { readIds } from '../../job/read-columns.js';
import { cancelLocked } from '../ends/cancel-idle-jobs.js';
import type { CancelResult, JobSearch } from './admin-store.js';
import { mayBeInFlow } from '../../job/outcome.js';
import type { ClaimedJob } from '../../job/job.js';
import { toIdleJob } from '../rows/claimed-row.js';
import { endLockedAssignment } from '../features/people/end-assignment.js';
import { lockAssignment, lockJob, MAX_TRIES, readLiveJob, type LiveJob } from '../features/people/lock-assignment.js';
import { execute, query, type Work } from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';

// After the lock of the claim: the job is locked last, as by a completion. A plain read could be older than the lock, in
// the snapshot of a caller's transaction.
const LOCK_CLAIMED_JOB = `
  SELECT id
  FROM {jobs} {by primary}
  WHERE id = :id AND claim_id = :claimId {lock}`;

const LOCK_CLAIM = `
  SELECT worker_id, cancel_requests, owner, job_ids, start_limit
  FROM {claims} {by primary}
  WHERE id = :claimId {lock}`;

const WRITE_CANCEL_REQUESTS = `
  UPDATE {claims} {by primary}
  SET cancel_requests = :requests
  WHERE id = :claimId`;

type LockedClaim = Pick<TableRow<'claims'>, 'worker_id' | 'cancel_requests' | 'owner' | 'job_ids' | 'start_limit'>;

/**
 * @param isCallers in a transaction of the caller
 * @param filter cancels only an active job whose queue and holder match
 */
export function* cancelJob(
  id: number,
  retentionMs: (queue: string) => number | false,
  isCallers: boolean,
  filter?: JobSearch,
): Work<CancelResult> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const job = yield* readLiveJob(id);
    if (!job || (filter && (job.claimId === 0 || job.queue !== (filter.queue ?? job.queue))))
      return { state: 'too-late' };
    const result =
      job.claimId === 0
        ? yield* cancelIdle(id, retentionMs)
        : yield* cancelClaimed(id, job, retentionMs, isCallers, filter);
    if (result) return result;
  }
  return { state: 'too-late' };
}

function* cancelIdle(id: number, retentionMs: (queue: string) => number | false): Work<CancelResult | undefined> {
  const row = yield* lockJob(id, 0);
  if (!row) return undefined;
  yield* cancelLocked([row], retentionMs);
  return cancelled(toIdleJob(row, row.queue));
}

function* cancelClaimed(
  id: number,
  { queue, claimId }: LiveJob,
  retentionMs: (queue: string) => number | false,
  isCallers: boolean,
  filter: JobSearch = {},
): Work<CancelResult | undefined> {
  const claim = yield* lockClaimOf(id, claimId);
  if (!claim) return undefined;
  const { owner = claim.owner, worker = claim.worker_id } = filter;
  if (owner !== claim.owner || worker !== claim.worker_id) return { state: 'too-late' };
  if (claim.owner !== null) {
    // Cancels at once, because no worker would read a request. Later calls of the claim holder reject.
    const locked = yield* lockAssignment(id, 'anyone');
    const { job, leftGroup } = withoutGroupLock(locked.job, isCallers);
    yield* endLockedAssignment(
      { ...locked, job },
      { outcome: { kind: 'cancel' }, retentionMs: retentionMs(job.queue) },
    );
    return { ...cancelled(job), ...leftGroup };
  }
  yield* requestCancel(id, claimId, claim);
  return { state: 'requested', workerId: claim.worker_id, queue };
}

/**
 * A job that leaves its claim locks its group. In a transaction of the caller, which may stay open for long, it must not:
 * claims and completions of the group would wait.
 */
export function withoutGroupLock(job: ClaimedJob, isCallers: boolean) {
  const { queue, group, countsInGroup } = job;
  if (!isCallers || group === null || countsInGroup === false) return { job };
  return { job: { ...job, countsInGroup: false as const }, leftGroup: { leftGroup: { queue, group } } };
}

function cancelled(job: ClaimedJob): Extract<CancelResult, { state: 'cancelled' }> {
  return { state: 'cancelled', ...(mayBeInFlow(job) && { isInFlow: true }) };
}

/** Undefined if the job has left the claim. */
export function* lockClaimOf(id: number, claimId: number): Work<LockedClaim | undefined> {
  const [claim] = yield* query<LockedClaim>(LOCK_CLAIM, { claimId });
  if (!claim) return undefined;
  // No completion can change the locked claim, but the job may have left it before the lock.
  const [job] = yield* query(LOCK_CLAIMED_JOB, { id, claimId });
  return job === undefined ? undefined : claim;
}

export function* requestCancel(id: number, claimId: number, { cancel_requests }: LockedClaim): Work<void> {
  const requests = new Set(readIds(cancel_requests) ?? []).add(id);
  yield* execute(WRITE_CANCEL_REQUESTS, { claimId, requests: JSON.stringify([...requests]) });
}
