import type { CompletionBatch, CompletionResult, Completion } from './completion.js';
import { fenceClaims, writeClaimProgress } from './claim-progress.js';
import { enqueueDeadLetters } from './dead-letters.js';
import { completionEvents } from './job-events.js';
import { groupByClaim, fence, isFinished, isShort, type FencedStatement } from './fence.js';
import { copyToHistory, writeHistory } from './history.js';
import { emit, executeAll, type Work } from '../core/statement.js';
import { findMissing, findLost } from './surviving-completions.js';
import { returnToQueue } from './return-to-queue.js';
import { honourCancelRequests } from './cancel-requests.js';

// MySQL and MariaDB execute comments of the form /*! … */, SQLite ignores them. Both servers scan a small table instead
// of using its key, and a scan waits for locks on rows that the statement does not need. Each statement that locks rows
// by id therefore names the primary key. A DELETE accepts an index only in the form for several tables, which names the
// table twice.

const DELETE_FINISHED = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId`;

/**
 * A fenced statement matched fewer rows than it named: some claims are lost, or the cancellation of a job is requested.
 * The transaction must be rolled back.
 */
export class FenceError extends Error {}

const NONE: ReadonlySet<never> = new Set();

/** Writes the batch, or throws a FenceError. Locks claims, then jobs, then history, like every transaction. */
export function* completeAll({ completions, claims }: CompletionBatch): Work<CompletionResult> {
  yield* completeClaimed(completions, completionEvents(completions), fenceClaims(claims, completions));
  return { lost: NONE, cancelled: NONE, lostClaims: NONE };
}

/**
 * Writes the batch after a FenceError: finds the jobs that still belong to their claims, and completes only those. A
 * batch can contain one job twice, under a lost claim and under a valid one.
 */
export function* completeSurvivors(batch: CompletionBatch): Work<CompletionResult> {
  const { completions, cancelled } = yield* honourCancelRequests(batch);
  const lostClaims = yield* writeClaimProgress(batch.claims);
  const missing = new Set<Completion>();
  for (const [claimId, ofClaim] of groupByClaim(batch.completions)) {
    for (const completion of yield* findMissing(claimId, ofClaim)) missing.add(completion);
  }
  yield* completeClaimed(completions.filter((_, index) => !missing.has(batch.completions[index]!)));
  // If the earlier commit had succeeded, no job would still belong to its claim.
  const mayBeStored = batch.mayHaveCommitted && missing.size === batch.completions.length;
  const lost = mayBeStored ? yield* findLost(missing, batch.mayBeRescued) : missing;
  return {
    lost,
    lostClaims,
    cancelled: new Set([...cancelled].filter((completion) => !missing.has(completion))),
  };
}

/** @param claims the statements for the rows of the claims; default: none, so that they stay unchanged */
export function* completeClaimed(
  completions: readonly Completion[],
  changes = completionEvents(completions),
  claims: readonly FencedStatement[] = [],
): Work<void> {
  yield* emit(changes);
  const kept: Completion[] = [];
  const fenced = [...claims];
  for (const [claimId, ofClaim] of groupByClaim(completions)) {
    const finished = ofClaim.filter(isFinished);
    const { copies, others } = copyToHistory(claimId, finished);
    fenced.push(...copies);
    kept.push(...others);
    if (finished.length > 0) fenced.push(fence(DELETE_FINISHED, claimId, finished));
    fenced.push(...returnToQueue(claimId, ofClaim));
  }
  const answers = yield* executeAll(fenced.map(({ statement }) => statement));
  if (fenced.some((one, index) => isShort(one, answers[index]!))) throw new FenceError();
  yield* enqueueDeadLetters(completions);
  // After the fence, because another worker may have written the history of a lost job already.
  yield* writeHistory(kept);
}
