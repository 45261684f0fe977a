import { endOfMalformed, type Outcome } from '../../job/outcome.js';
import { readIds } from '../../job/read-columns.js';
import type { Rescued, RescueRules, Settlement } from '../job-store.js';
import { claimedJob, CLAIMED_COLUMNS, type ClaimedRow } from './claimed-row.js';
import { IS_AHEAD, jobsOf, retire } from './lease.js';
import { rescued as changesOfRescue } from './changes.js';
import { settleClaimed } from './settle.js';
import { change, query, type Work } from './statement.js';
import { decided } from './undecided.js';

/** So many lapsed claims are read at a time. */
export const LAPSED_AT_A_TIME = 100;

const LAPSED = `
  SELECT id
  FROM {claims}
  WHERE id > :after AND (lease_until <= :now OR (${IS_AHEAD}))
  ORDER BY id
  LIMIT ${LAPSED_AT_A_TIME}`;

/** What rescuing needs to know of a claim. */
export const LAPSED_COLUMNS = 'id, worker_id, owner, queue, job_ids, started, cancelled, dead_letter';

// Checked again under the lock: the worker may have renewed it, or another rescuer may be at it (then it is skipped).
const LOCK_LAPSED = `
  SELECT ${LAPSED_COLUMNS}
  FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id AND lease_until <= :now /*! FOR UPDATE SKIP LOCKED */`;

const LOCK_AHEAD = `
  SELECT id
  FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id AND ${IS_AHEAD} /*! FOR UPDATE SKIP LOCKED */`;

const SET_FROM_NOW = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET lease_until = :now + lease_ms
  WHERE id = :id`;

// A job that its handler's own transaction has locked may still complete: it is left for the next time.
const LOCK_CARRIERS = `
  SELECT ${CLAIMED_COLUMNS}, queue
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND claim_id = :claimId
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

export interface LapsedClaim {
  id: number;
  worker_id: string;
  owner: string | null;
  queue: string;
  job_ids: string;
  started: number;
  cancelled: string | null;
  dead_letter: string | null;
}

/** The row of a job says itself which queue it is of. */
interface CarrierRow extends ClaimedRow {
  queue: string;
}

const CANCEL = { kind: 'cancel' } as const;

/**
 * Those behind `after`, and claims that were made before the server's clock was set back. Read without locks: each is locked
 * and checked again by itself.
 */
export function* lapsedClaims(after: number): Work<number[]> {
  return (yield* query<{ id: number }>(LAPSED, { after })).map(({ id }) => Number(id));
}

export function* rescueClaim(claimId: number, rules: RescueRules): Work<Rescued[]> {
  const [claim] = yield* query<LapsedClaim>(LOCK_LAPSED, { id: claimId });
  if (claim) return yield* takeFrom(claim, rules);
  yield* setFromNow(claimId);
  return [];
}

/**
 * After the server's clock was set back the lease lapses one length from now, unless its worker renews it. That is no sooner
 * than the worker itself gives it up.
 */
function* setFromNow(claimId: number): Work<void> {
  const ahead = yield* query(LOCK_AHEAD, { id: claimId });
  if (ahead.length > 0) yield* change(SET_FROM_NOW, { id: claimId });
}

/** Takes the jobs of a claim that nobody keeps alive, and that has been locked. */
export function* takeFrom(claim: LapsedClaim, rules: RescueRules): Work<Rescued[]> {
  const claimId = Number(claim.id);
  const listed = readIds(claim.job_ids);
  const ids = yield* jobsOf(claim);
  // No job of a claim begins before the claim lists it.
  const begun = new Set(listed && claim.started >= 0 ? listed.slice(0, claim.started) : ids);
  const unwanted = readIds(claim.cancelled) ?? [];
  const rows = ids.length === 0 ? [] : yield* query<CarrierRow>(LOCK_CARRIERS, { ids, claimId });
  const deadLetter = claim.dead_letter ?? false;
  const silent = { workerId: claim.worker_id, owner: claim.owner };
  const lapsed = rows.map((row) => {
    const job = claimedJob(row, row.queue, row.attempt);
    return { ...job, ...silent, mayHaveBegun: begun.has(job.id) };
  });
  const outcomes = decided<Outcome>(
    lapsed.map((job) => endOfMalformed(job) ?? (unwanted.includes(job.id) ? CANCEL : rules.decide(job))),
  );
  const rescued: Rescued[] = lapsed.map((job, index) => ({ job, outcome: outcomes[index]!, deadLetter }));
  const common = { claimId, ...silent, ranMs: null, deadLetter } as const;
  const settlements = lapsed.map((job, index): Settlement => {
    return { ...common, job, outcome: outcomes[index]!, keepMs: rules.keepMs(job.queue) };
  });
  yield* settleClaimed(settlements, changesOfRescue(settlements));
  yield* retire([claimId]);
  return rescued;
}
