import { JobNotHeldError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import type { MaybeLater } from '../../job/user-rule.js';
import type { EndedAssignment, Holder, Snooze, Verdict } from '../consumer-store.js';
import { leaseEnd, NEVER_MS } from './assign.js';
import { settled } from './changes.js';
import { isFinished } from './fence.js';
import { lockHeld, type Held } from './hold.js';
import { endClaim, LEASE_LENGTH } from './lease.js';
import { settleClaimed } from './settle.js';
import { leaveStages, standIn } from './stages.js';
import { change, note, query, type Work } from './statement.js';
import { decided } from './undecided.js';

const EXTEND = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET lease_ms = :leaseMs, lease_until = :now + :leaseMs
  WHERE id = :claimId`;

// The lease begins when the owner has the job back. One without an end stays so.
const SNOOZE = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET snoozed_until = :untilMs,
      lease_until = CASE WHEN lease_until >= ${NEVER_MS} THEN lease_until ELSE :untilMs + ${LEASE_LENGTH} END
  WHERE id = :claimId`;

const LEASE = `
  SELECT lease_until
  FROM {claims}
  WHERE id = :claimId`;

/** The job goes as the verdict says, and the claim that had it ends. */
export function* endAssignment(
  id: number,
  holder: Holder,
  decide: (job: ClaimedJob) => MaybeLater<Verdict>,
): Work<EndedAssignment> {
  const held = yield* lockHeld(id, holder);
  const [verdict] = decided([decide(held.job)]);
  return yield* endHeld(held, verdict!);
}

export function* endHeld(
  { job, claimId, workerId, owner, heldMs }: Held,
  { outcome, keepMs, deadLetter = false }: Verdict,
): Work<EndedAssignment> {
  const settlement = { job, claimId, workerId, owner, outcome, ranMs: heldMs, keepMs, deadLetter };
  yield* endClaim(claimId);
  yield* settleClaimed([settlement]);
  // One that is not finished goes back to where it stood.
  if (isFinished(settlement)) yield* leaveStages([job.id]);
  return { job, outcome, heldMs, owner };
}

/** The job waits in the stage, or in none, for whoever claims from there. */
export function* moveJob(id: number, holder: Holder, stage: string | null): Work<EndedAssignment> {
  const ended = yield* endAssignment(id, holder, () => ({ outcome: { kind: 'release' }, keepMs: false }));
  yield* standIn(id, stage);
  return ended;
}

/** The owner keeps the job: its claim stays, so that nothing has to be done when the time comes. */
export function* snoozeAssignment(id: number, holder: Holder, outcome: Snooze): Work<EndedAssignment> {
  const { claimId, workerId, owner, job, holds, heldMs, atMs } = yield* lockHeld(id, holder);
  if (!holds) throw new JobNotHeldError(id, job.queue, 'nobody');
  const untilMs = Math.max(atMs, outcome.untilMs ?? atMs + outcome.delayMs);
  yield* note(settled([{ job, claimId, workerId, owner, outcome, ranMs: null, keepMs: false, deadLetter: false }]));
  yield* change(SNOOZE, { claimId, untilMs });
  return { job, outcome, heldMs, owner };
}

export function* extendAssignment(id: number, holder: Holder, leaseMs: number): Work<number> {
  const { claimId, job, holds } = yield* lockHeld(id, holder);
  // A lapsed lease is never renewed: somebody may be about to take the job.
  if (!holds) throw new JobNotHeldError(id, job.queue, 'nobody');
  yield* change(EXTEND, { claimId, leaseMs });
  const [row] = yield* query<{ lease_until: number }>(LEASE, { claimId });
  return leaseEnd(row!.lease_until)!;
}
