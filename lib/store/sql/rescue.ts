import type { Outcome } from '../../job/outcome.js';
import type { Rescued, RescueRules, Settlement } from '../job-store.js';
import { claimedJob, CLAIMED_COLUMNS, parseOr, type ClaimedRow } from './claimed-row.js';
import { IS_AHEAD, retire } from './lease.js';
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
  SELECT ${CLAIMED_COLUMNS}
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
  const ids = JSON.parse(claim.job_ids) as number[];
  const begun = new Set(ids.slice(0, claim.started));
  const unwanted = parseOr<number[]>(claim.cancelled) ?? [];
  const rows = yield* query<ClaimedRow>(LOCK_CARRIERS, { ids, claimId });
  const keepMs = rules.keepMs(claim.queue);
  const deadLetter = claim.dead_letter ?? false;
  const silent = { workerId: claim.worker_id, owner: claim.owner };
  const lapsed = rows.map((row) => {
    const job = claimedJob(row, claim.queue, row.attempt);
    return { ...job, ...silent, mayHaveBegun: begun.has(job.id) };
  });
  const outcomes = decided<Outcome>(
    lapsed.map((job) => (unwanted.includes(job.id) ? { kind: 'cancel' } : rules.decide(job))),
  );
  const rescued: Rescued[] = lapsed.map((job, index) => ({ job, outcome: outcomes[index]!, deadLetter }));
  const common = { claimId, workerId: claim.worker_id, ranMs: null, keepMs, deadLetter } as const;
  const settlements: Settlement[] = lapsed.map((job, index) => ({ ...common, job, outcome: outcomes[index]! }));
  yield* settleClaimed(settlements, changesOfRescue(settlements));
  yield* retire([claimId]);
  return rescued;
}
