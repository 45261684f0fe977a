import { JobNotAssignedError } from '../../../job/errors.js';
import type { ClaimedJob } from '../../../job/job.js';
import type { MaybePromise } from '../../../common/maybe-promise.js';
import type { EndedAssignment, ExpectedHolder, Snooze, PersonOutcome } from './consumer-store.js';
import { leaseEndMs, NEVER_MS } from './assign.js';
import { lockAssignment, type LiveJob, type LockedAssignment } from './lock-assignment.js';
import { deleteClaim, LEASE_LENGTH } from '../../rows/lease.js';
import { endJobs, completionEvents } from '../../ends/end-jobs.js';
import { setStage } from '../../ends/stages.js';
import { execute, recordEvents, query, type Work } from '../../core/statement.js';
import { requireDecisions } from '../../core/with-decisions.js';

const EXTEND = `
  UPDATE {claims} {by primary}
  SET lease_ms = :leaseMs, lease_until = :now + :leaseMs
  WHERE id = :claimId`;

// The lease starts when the owner gets the job back. A lease that does not expire is unchanged.
const SNOOZE = `
  UPDATE {claims} {by primary}
  SET snoozed_until = :untilMs,
      lease_until = CASE WHEN lease_until >= ${NEVER_MS} THEN lease_until ELSE :untilMs + ${LEASE_LENGTH} END
  WHERE id = :claimId`;

const SELECT_LEASE_END = `
  SELECT lease_until
  FROM {claims}
  WHERE id = :claimId`;

/** @param located the job, for a transaction of the caller. It does not lock the group of the job: see ConsumerStore.onCommitted */
export function* endAssignment(
  id: number,
  holder: ExpectedHolder,
  decide: (job: ClaimedJob) => MaybePromise<PersonOutcome>,
  located?: LiveJob,
): Work<EndedAssignment> {
  const locked = yield* lockAssignment(id, holder, located);
  const [outcome] = requireDecisions([decide(locked.job)]);
  if (!located) return yield* endLockedAssignment(locked, outcome!);
  const ended = yield* endLockedAssignment({ ...locked, job: { ...locked.job, countsInGroup: false } }, outcome!);
  return { ...ended, job: locked.job };
}

export function* endLockedAssignment(
  { job, isStaged, claimId, workerId, owner, heldMs, atMs }: LockedAssignment,
  { outcome, retentionMs, deadLetter = false }: PersonOutcome,
): Work<EndedAssignment> {
  const endedAt = new Date(atMs);
  const holder = { claimId, workerId, owner };
  const end = { job, isStaged, ...holder, outcome, ranMs: heldMs, endedAt, retentionMs, deadLetter };
  yield* deleteClaim(claimId);
  yield* endJobs([end]);
  return { job, outcome, heldMs, owner };
}

export function* moveJob(
  id: number,
  holder: ExpectedHolder,
  stage: string | null,
  located?: LiveJob,
): Work<EndedAssignment> {
  const ended = yield* endAssignment(id, holder, () => ({ outcome: { kind: 'release' }, retentionMs: false }), located);
  yield* setStage(id, stage);
  return ended;
}

/** The claim stays, so no write is needed when the snooze ends. */
export function* snoozeAssignment(
  id: number,
  holder: ExpectedHolder,
  outcome: Snooze,
  located?: LiveJob,
): Work<EndedAssignment> {
  const { claimId, workerId, owner, job, hasLease, heldMs, atMs } = yield* lockAssignment(id, holder, located);
  if (!hasLease) throw new JobNotAssignedError(id, job.queue, 'none');
  const untilMs = Math.max(atMs, outcome.untilMs ?? atMs + outcome.delayMs);
  yield* recordEvents(
    completionEvents([{ job, claimId, workerId, owner, outcome, ranMs: null, retentionMs: false, deadLetter: false }]),
  );
  yield* execute(SNOOZE, { claimId, untilMs });
  return { job, outcome, heldMs, owner };
}

export function* extendAssignment(id: number, holder: ExpectedHolder, leaseMs: number): Work<number> {
  const { claimId, job, hasLease } = yield* lockAssignment(id, holder);
  // An expired lease is never renewed, because a rescue may be about to take the job.
  if (!hasLease) throw new JobNotAssignedError(id, job.queue, 'none');
  yield* execute(EXTEND, { claimId, leaseMs });
  const [row] = yield* query<{ lease_until: number }>(SELECT_LEASE_END, { claimId });
  return leaseEndMs(row!.lease_until)!;
}
