import type { Flush, Settlement } from '../job-store.js';
import { claimsOf, noteProgress } from './claim-progress.js';
import { sendDeadLetters } from './dead-letters.js';
import { settled } from './changes.js';
import { byClaim, fence, isFinished, isShort, type Fenced } from './fence.js';
import { copyAlike, keepFinished } from './history.js';
import { note, together, type Changes, type Work } from './statement.js';
import { findMissing, trulyLost } from './survivors.js';
import { sendBack } from './send-back.js';
import { cancelUnwanted } from './wishes.js';

// The comments of the form /*! … */ are read by MySQL and MariaDB and passed over by SQLite. Both servers scan a small
// table rather than read its key, and whoever scans waits for rows that are none of his business: so each statement that
// locks rows by id names the primary key. A DELETE takes an index only in its form for several tables, which names the
// table twice.

const TAKE_FINISHED = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId`;

/**
 * A fenced statement met fewer rows than it named: some jobs or claims are not ours any more, or somebody wants one cancelled.
 * Nothing of the flush may stay as it is.
 */
export class ShortCountError extends Error {}

/** What became of the outcomes of a flush that did not all become what they were. */
export interface Refused {
  /** Nothing was done to these jobs. */
  readonly lost: ReadonlySet<Settlement>;
  /** These were to be sent back, and were cancelled instead. */
  readonly cancelled: ReadonlySet<Settlement>;
  /** No more of these claims may begin: they have been rescued, or may be. */
  readonly gone: ReadonlySet<number>;
}

const NONE: ReadonlySet<never> = new Set();

/** Writes the outcomes of one flush. Locks claims, then jobs, then history, as everywhere. */
export function* settleAtOnce(flush: Flush): Work<Refused> {
  yield* settle(flush.settlements, claimsOf(flush));
  return { lost: NONE, cancelled: NONE, gone: NONE };
}

/**
 * The same after a ShortCountError: finds the survivors, settles those and answers the others. One job can be in a flush
 * twice, under a claim that is lost and under one that holds.
 */
export function* settleSurvivors(flush: Flush): Work<Refused> {
  const { settlements, cancelled } = yield* cancelUnwanted(flush);
  const gone = yield* noteProgress(flush.claims);
  const missing = new Set<Settlement>();
  for (const [claimId, ofClaim] of byClaim(flush.settlements)) {
    for (const settlement of yield* findMissing(claimId, ofClaim)) missing.add(settlement);
  }
  yield* settleClaimed(settlements.filter((_, index) => !missing.has(flush.settlements[index]!)));
  // Had the commit of before been done, none would have survived it.
  const mayBeDone = flush.again && missing.size === flush.settlements.length;
  const lost = mayBeDone ? yield* trulyLost(missing, flush.mayBeTaken) : missing;
  return { lost, gone, cancelled: new Set([...cancelled].filter((settlement) => !missing.has(settlement))) };
}

/**
 * Outcomes of jobs whose claims are accounted for elsewhere.
 *
 * @param changes what listeners are told of them
 */
export function settleClaimed(settlements: readonly Settlement[], changes = settled(settlements)): Work<void> {
  return settle(settlements, [], changes);
}

function* settle(
  settlements: readonly Settlement[],
  before: readonly Fenced[],
  changes: Changes = settled(settlements),
): Work<void> {
  yield* note(changes);
  const kept: Settlement[] = [];
  const fenced = [...before];
  for (const [claimId, ofClaim] of byClaim(settlements)) {
    const finished = ofClaim.filter(isFinished);
    const { copies, others } = copyAlike(claimId, finished);
    fenced.push(...copies);
    kept.push(...others);
    if (finished.length > 0) fenced.push(fence(TAKE_FINISHED, claimId, finished));
    fenced.push(...sendBack(claimId, ofClaim));
  }
  const answers = yield* together(fenced.map(({ statement }) => statement));
  if (fenced.some((one, index) => isShort(one, answers[index]!))) throw new ShortCountError();
  yield* sendDeadLetters(settlements);
  // What is not ours any more may be in the history already.
  yield* keepFinished(kept);
}
