import { JobFinishedError, JobNotFoundError, JobNotAssignedError } from '../../../job/errors.js';
import type { ClaimedJob } from '../../../job/job.js';
import type { FinalState } from '../../../job/job-state.js';
import type { ExpectedHolder } from './consumer-store.js';
import { toClaimedJob, CLAIMED_COLUMNS, type ClaimedRow } from '../../rows/claimed-row.js';
import { query, type Work } from '../../core/statement.js';
import { IS_STAGED, type StagedRow } from '../../tables/runnable.js';
import type { TableRow } from '../../tables/table-schemas.js';

const SELECT_LIVE_CLAIM = `
  SELECT queue, claim_id
  FROM {jobs}
  WHERE id = :id`;

const SELECT_FINISHED_STATE = `
  SELECT queue, state
  FROM {history}
  WHERE id = :id`;

const LOCK_CLAIM = `
  SELECT worker_id, owner, dead_letter, :now AS at, claimed_at, CASE WHEN lease_until > :now THEN 1 ELSE 0 END AS has_lease
  FROM {claims} {by primary}
  WHERE id = :claimId {lock}`;

const LOCK_JOB = `
  SELECT ${CLAIMED_COLUMNS}, queue, ${IS_STAGED}
  FROM {jobs} {by primary}
  WHERE id = :id AND claim_id = :claimId {lock}`;

type AssignmentClaimRow = Pick<TableRow<'claims'>, 'worker_id' | 'owner' | 'dead_letter' | 'claimed_at'> &
  Readonly<Record<'at' | 'has_lease', number>>;

type LockedJobRow = ClaimedRow & StagedRow & Pick<TableRow<'jobs'>, 'queue'>;

/** A locked job, and its locked claim, which has no other job. */
export interface LockedAssignment {
  readonly job: ClaimedJob;
  readonly isStaged: boolean;
  readonly claimId: number;
  readonly workerId: string;
  readonly owner: string;
  /** The queue that gets a copy of the job if it is dead; false: none. */
  readonly deadLetter: string | false;
  readonly heldMs: number;
  /** The time of the lock by the database's clock. */
  readonly atMs: number;
  /** False if the lease has expired, and no process has rescued the job yet. */
  readonly hasLease: boolean;
}

// The number of times that the claim of a job may change between a read and its lock.
export const MAX_TRIES = 5;

/** The queue of a job and its claim, 0 for none. */
export interface LiveJob {
  readonly queue: string;
  readonly claimId: number;
}

/** Undefined if the job is finished or missing. */
export function* readLiveJob(id: number): Work<LiveJob | undefined> {
  const [live] = yield* query<{ queue: string; claim_id: number }>(SELECT_LIVE_CLAIM, { id });
  return live && { queue: live.queue, claimId: Number(live.claim_id) };
}

/** Throws if the job is finished or missing. */
export function* locateLiveJob(id: number): Work<LiveJob> {
  // Reads twice, because one pass finds a job in neither table if it moves from the history back to its queue.
  for (let reads = 0; reads < 2; reads++) {
    const live = yield* readLiveJob(id);
    if (live) return live;
    const [finished] = yield* query<{ queue: string; state: FinalState }>(SELECT_FINISHED_STATE, { id });
    if (finished) throw new JobFinishedError(id, finished.queue, finished.state);
  }
  throw new JobNotFoundError(id);
}

/**
 * Locks the claim, then the job. Throws if the caller does not hold the job.
 *
 * @param located the job, if another connection has read it
 */
export function* lockAssignment(id: number, holder: ExpectedHolder, located?: LiveJob): Work<LockedAssignment> {
  for (let tries = 0; ; tries++) {
    const { queue, claimId } = tries === 0 && located ? located : yield* locateLiveJob(id);
    if (claimId === 0 || tries === MAX_TRIES) throw new JobNotAssignedError(id, queue, 'none');
    const [claim] = yield* query<AssignmentClaimRow>(LOCK_CLAIM, { claimId });
    if (!claim) continue;
    const { owner, worker_id: workerId } = claim;
    if (owner === null) throw new JobNotAssignedError(id, queue, 'worker');
    if (!isHolder(holder, claimId, owner)) {
      throw new JobNotAssignedError(id, queue, owner === '' ? 'token' : 'owner', owner || null);
    }
    const row = yield* lockJob(id, claimId);
    if (!row) continue;
    return {
      job: toClaimedJob(row, row.queue),
      isStaged: Number(row.is_staged) === 1,
      claimId,
      workerId,
      owner,
      deadLetter: claim.dead_letter ?? false,
      heldMs: heldMsOf(claim),
      atMs: Number(claim.at),
      hasLease: Number(claim.has_lease) === 1,
    };
  }
}

/**
 * Undefined if the claim does not have the job any more. The queue of the job may be another one than before the lock.
 *
 * @param claimId 0: the job must have no claim
 */
export function* lockJob(id: number, claimId: number): Work<LockedJobRow | undefined> {
  return (yield* query<LockedJobRow>(LOCK_JOB, { id, claimId }))[0];
}

function isHolder(holder: ExpectedHolder, claimId: number, owner: string): boolean {
  if (holder === 'anyone') return true;
  return 'token' in holder ? holder.token === claimId : holder.owner === owner;
}

// Subtracted here, because the difference may overflow an SQL integer. It is negative if the server's clock was set
// back.
function heldMsOf({ at, claimed_at }: AssignmentClaimRow): number {
  const ms = Number(at) - Number(claimed_at);
  return ms >= 0 && ms <= Number(at) ? ms : 0;
}
