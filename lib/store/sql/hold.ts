import { JobFinishedError, JobNotFoundError, JobNotHeldError, type HeldBy } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import type { FinalState } from '../../job/job-state.js';
import type { Holder } from '../consumer-store.js';
import { claimedJob, CLAIMED_COLUMNS, type ClaimedRow } from './claimed-row.js';
import { query, type Work } from './statement.js';

const WHERE_LIVE = `
  SELECT queue, claim_id
  FROM {jobs}
  WHERE id = :id`;

const WHERE_FINISHED = `
  SELECT queue, state
  FROM {history}
  WHERE id = :id`;

const LOCK_CLAIM = `
  SELECT worker_id, owner, dead_letter, :now AS at, claimed_at, CASE WHEN lease_until > :now THEN 1 ELSE 0 END AS holds
  FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :claimId /*! FOR UPDATE */`;

const LOCK_JOB = `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id AND claim_id = :claimId /*! FOR UPDATE */`;

interface HoldingRow {
  worker_id: string;
  owner: string | null;
  dead_letter: string | null;
  at: number;
  claimed_at: number;
  holds: number;
}

/** A job that is locked along with the claim that has it and no other. */
export interface Held {
  readonly job: ClaimedJob;
  readonly claimId: number;
  readonly workerId: string;
  readonly owner: string;
  /** See ClaimRequest. */
  readonly deadLetter: string | false;
  readonly heldMs: number;
  /** The time at which it was locked, by the database's clock. */
  readonly atMs: number;
  /** False once the lease has lapsed and nobody has taken the job yet. */
  readonly holds: boolean;
}

// How often a job may change hands while somebody looks who has it.
const TRIES = 5;

/** The job's queue and claim, 0 for none; rejects where it is finished or not there. */
export function* whereItStands(id: number): Work<{ queue: string; claimId: number }> {
  // Twice, since a job that moves between the tables in the meantime would be seen in neither.
  for (let looks = 0; looks < 2; looks++) {
    const [live] = yield* query<{ queue: string; claim_id: number }>(WHERE_LIVE, { id });
    if (live) return { queue: live.queue, claimId: Number(live.claim_id) };
    const [finished] = yield* query<{ queue: string; state: FinalState }>(WHERE_FINISHED, { id });
    if (finished) throw new JobFinishedError(id, finished.queue, finished.state);
  }
  throw new JobNotFoundError(id);
}

/** Locks the claim, then the job. Rejects where the holder does not have it. */
export function* lockHeld(id: number, holder: Holder): Work<Held> {
  for (let tries = 0; ; tries++) {
    const { queue, claimId } = yield* whereItStands(id);
    if (claimId === 0 || tries === TRIES) throw new JobNotHeldError(id, queue, 'nobody');
    const [claim] = yield* query<HoldingRow>(LOCK_CLAIM, { claimId });
    if (!claim) continue;
    const { owner, worker_id: workerId } = claim;
    if (owner === null) throw new JobNotHeldError(id, queue, 'worker');
    if (!isHolder(holder, claimId, owner)) throw new JobNotHeldError(id, queue, heldBy(owner), owner || null);
    const [row] = yield* query<ClaimedRow>(LOCK_JOB, { id, claimId });
    if (!row) continue;
    const job = claimedJob(row, queue, row.attempt);
    const deadLetter = claim.dead_letter ?? false;
    const holds = Number(claim.holds) === 1;
    return { job, claimId, workerId, owner, deadLetter, heldMs: heldMs(claim), atMs: Number(claim.at), holds };
  }
}

/** Locks a job that nobody has; undefined where somebody has it by now. */
export function* lockIdle(id: number): Work<ClaimedRow | undefined> {
  return (yield* query<ClaimedRow>(LOCK_JOB, { id, claimId: 0 }))[0];
}

function isHolder(holder: Holder, claimId: number, owner: string): boolean {
  if (holder === 'whoever') return true;
  return 'token' in holder ? holder.token === claimId : holder.owner === owner;
}

// Not in SQL, where the difference can be more than a number there can hold. Negative if the server's clock was set back
// meanwhile.
function heldMs({ at, claimed_at }: HoldingRow): number {
  const ms = Number(at) - Number(claimed_at);
  return ms >= 0 && ms <= Number(at) ? ms : 0;
}

function heldBy(owner: string): HeldBy {
  return owner === '' ? 'token' : 'owner';
}
