import type { ClaimedJob } from '../../job/job.js';
import type { Work } from '../core/statement.js';
import { toClaimedJob } from '../rows/claimed-row.js';
import { startedIdsOf } from '../rows/lease.js';
import { endJobs } from '../ends/end-jobs.js';
import { endLockedAssignment } from '../features/people/end-assignment.js';
import { lockAssignment, lockJob, MAX_TRIES, readLiveJob } from '../features/people/lock-assignment.js';
import type { ReleasedJob } from './admin-store.js';
import { lockClaimOf, requestCancel, withoutGroupLock } from './cancel-job.js';

/**
 * Takes the job from its worker, which reads a cancellation request for it, or from the person who has it.
 *
 * @param isCallers in a transaction of the caller
 */
export function* releaseJob(id: number, isCallers: boolean): Work<ReleasedJob | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const claimId = (yield* readLiveJob(id))?.claimId ?? 0;
    if (claimId === 0) return undefined;
    const claim = yield* lockClaimOf(id, claimId);
    if (!claim) continue;
    if (claim.owner !== null) {
      const locked = yield* lockAssignment(id, 'anyone');
      const { job, leftGroup } = withoutGroupLock(locked.job, isCallers);
      yield* endLockedAssignment({ ...locked, job }, { outcome: { kind: 'release' }, retentionMs: false });
      return { ...released(job, locked.workerId, locked.owner), ...leftGroup };
    }
    const claimed = yield* lockJob(id, claimId);
    const { job, leftGroup } = withoutGroupLock(toClaimedJob(claimed!, claimed!.queue), isCallers);
    const { worker_id: workerId } = claim;
    const outcome = { kind: 'release' } as const;
    const mayHaveStarted = startedIdsOf(claim)?.includes(id) ?? true;
    const end = { job, claimId, workerId, outcome, ranMs: null, mayHaveStarted } as const;
    yield* endJobs([{ ...end, retentionMs: false, deadLetter: false }]);
    yield* requestCancel(id, claimId, claim);
    return { ...released(job, workerId, null), ...leftGroup };
  }
  return undefined;
}

function released({ id, queue, name, attempt }: ClaimedJob, workerId: string, owner: string | null): ReleasedJob {
  return { id, queue, name, attempt, workerId, owner };
}
