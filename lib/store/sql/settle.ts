import type { ClaimProgress, Flush, Settlement } from '../job-store.js';
import { byClaim, fence, isFinished, type Fenced } from './fence.js';
import { copyAlike, keepFinished } from './history.js';
import { together, type Statement, type Work } from './statement.js';
import { findMissing, trulyLost } from './survivors.js';
import { sendBack } from './send-back.js';

// The comments of the form /*! … */ are read by MySQL and MariaDB and passed over by SQLite. Both servers scan a small
// table rather than read its key, and whoever scans waits for rows that are none of his business: so each statement that
// locks rows by id names the primary key. A DELETE takes an index only in its form for several tables, which names the
// table twice.

const RAISE_STARTED = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET started = :started
  WHERE id = :id`;

const END_CLAIMS = `
  DELETE /*! {claims} */ FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids)`;

const TAKE_FINISHED = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId`;

/** A fenced statement changed fewer jobs than it named: some are not ours any more, and nothing of the flush may stay. */
export class ShortCountError extends Error {}

/** Writes the outcomes of one flush. Locks claims, then jobs, then history, as everywhere. */
export function* settleAtOnce(flush: Flush): Work<ReadonlySet<Settlement>> {
  yield* settle(flush.settlements, progress(flush.claims));
  return new Set();
}

/**
 * The same after a ShortCountError: finds the survivors, settles those and answers the others. One job can be in a flush
 * twice, under a claim that is lost and under one that holds.
 */
export function* settleSurvivors(flush: Flush): Work<ReadonlySet<Settlement>> {
  yield* together(progress(flush.claims));
  const missing = new Set<Settlement>();
  for (const [claimId, settlements] of byClaim(flush.settlements)) {
    for (const settlement of yield* findMissing(claimId, settlements)) missing.add(settlement);
  }
  yield* settleClaimed(flush.settlements.filter((settlement) => !missing.has(settlement)));
  // Had the commit of before been done, none would have survived it.
  const mayBeDone = flush.again && missing.size === flush.settlements.length;
  return mayBeDone ? yield* trulyLost(missing, flush.lapsed) : missing;
}

/** Outcomes of jobs whose claims are accounted for elsewhere. */
export function settleClaimed(settlements: readonly Settlement[]): Work<void> {
  return settle(settlements, []);
}

function* settle(settlements: readonly Settlement[], before: readonly Statement[]): Work<void> {
  const kept: Settlement[] = [];
  const fenced: Fenced[] = [];
  for (const [claimId, ofClaim] of byClaim(settlements)) {
    const finished = ofClaim.filter(isFinished);
    const { copies, others } = copyAlike(claimId, finished);
    fenced.push(...copies);
    kept.push(...others);
    if (finished.length > 0) fenced.push(fence(TAKE_FINISHED, claimId, finished));
    fenced.push(...sendBack(claimId, ofClaim));
  }
  const answers = yield* together([...before, ...fenced.map(({ statement }) => statement)]);
  const isShort = fenced.some(({ jobs }, index) => answers[before.length + index]!.changed !== jobs);
  if (isShort) throw new ShortCountError();
  // What is not ours any more may be in the history already.
  yield* keepFinished(kept);
}

/** In the order of ids, whether they end or go on: a heartbeat locks the same claims in that order. */
function progress(claims: readonly ClaimProgress[]): Statement[] {
  const statements: Statement[] = [];
  let ended: number[] = [];
  const endThese = () => {
    if (ended.length > 0) statements.push({ sql: END_CLAIMS, values: { ids: ended } });
    ended = [];
  };
  for (const { id, started, finished } of [...claims].sort((a, b) => a.id - b.id)) {
    if (finished) ended.push(id);
    else {
      endThese();
      statements.push({ sql: RAISE_STARTED, values: { id, started } });
    }
  }
  endThese();
  return statements;
}
