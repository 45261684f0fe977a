import { groupBy } from '../../common/group-by.js';
import { deadLetterOf } from '../../job/dead-letter.js';
import type { NewJob } from '../../job/job.js';
import { BLOCKED, RETURNED } from '../rows/runnable.js';
import { closeEdges } from './edges.js';
import { wakeGroups } from './wake-groups.js';
import { deleteFrom, recordEvents, executeAll, type Work } from '../core/statement.js';
import { rememberResults } from './subject-blobs.js';
import { REFUNDED_ATTEMPT } from '../rows/claimed-row.js';
import type { Completion } from '../rows/completion.js';
import { enqueue } from './enqueue.js';
import { errorsAfter } from '../rows/error-column.js';
import { fence, groupByClaim, isFinished, isShort, type FencedStatement } from '../rows/fence.js';
import { copyToHistory, writeHistory } from '../rows/history.js';
import { completionEvents } from '../rows/job-events.js';

const DELETE_FINISHED = deleteFrom('jobs', ':ids AND claim_id = :claimId');

const SCHEDULE = `
  UPDATE {jobs} {by primary}
  SET state = 'scheduled', runnable = 0, run_at = COALESCE(:untilMs, :now + :delayMs), due_at = NULL, claim_id = 0,
      attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

// A retried job is due now, and a released job keeps its due time. The row keeps its length.
const RETURN_TO_WAITING = `
  UPDATE {jobs} {by primary}
  SET state = 'waiting', runnable = CASE WHEN group_key = '' OR runnable = 2 THEN runnable ELSE ${RETURNED} END, claim_id = 0, due_at = CASE WHEN :refund = 0 THEN :now ELSE due_at END, attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

const BLOCK = `
  UPDATE {jobs} {by primary}
  SET state = 'blocked', runnable = ${BLOCKED}, claim_id = 0, attempt = ${REFUNDED_ATTEMPT}
  WHERE :ids AND claim_id = :claimId`;

/**
 * A fenced statement matched fewer rows than it named: some claims are lost, or the cancellation of a job is requested.
 * The transaction must be rolled back.
 */
export class FenceError extends Error {}

/** @param claims the statements for the rows of the claims; default: none, so that they stay unchanged */
export function* completeClaimed(
  completions: readonly Completion[],
  claims: readonly FencedStatement[] = [],
  events = completionEvents(completions),
): Work<void> {
  yield* recordEvents(events);
  const kept: Completion[] = [];
  const fenced = [...wakeGroups(completions), ...claims];
  for (const [claimId, ofClaim] of groupByClaim(completions)) {
    const finished = ofClaim.filter(isFinished);
    const { copies, others } = copyToHistory(claimId, finished);
    fenced.push(...copies);
    kept.push(...others);
    if (finished.length > 0) fenced.push(fence(DELETE_FINISHED, claimId, finished));
    fenced.push(...returnToQueue(claimId, ofClaim));
  }
  for (const statement of [...closeEdges(completions), ...rememberResults(completions)])
    fenced.push({ ...statement, expectedRows: undefined });
  const answers = yield* executeAll(fenced);
  if (fenced.some((one, index) => isShort(one, answers[index]!))) throw new FenceError();
  yield* enqueueDeadLetters(completions);
  // After the fence, because another worker may have written the history of a lost job already.
  yield* writeHistory(kept);
}

/** Skips finished jobs. One statement for each group of equal returns. */
function returnToQueue(claimId: number, completions: readonly Completion[]): FencedStatement[] {
  const groups = groupBy(completions, (completion) => JSON.stringify(queueReturnOf(completion)));
  return [...groups.values()].flatMap((group) => {
    const queueReturn = queueReturnOf(group[0]!);
    if (!queueReturn) return [];
    return fence(statementOf(queueReturn), claimId, group, queueReturn);
  });
}

function statementOf({ isBlocked, delayMs }: QueueReturn): string {
  if (isBlocked) return BLOCK;
  return delayMs > 0 ? SCHEDULE : RETURN_TO_WAITING;
}

type QueueReturn = Readonly<{
  isBlocked?: 1;
  refund: number;
  error: string | null;
  delayMs: number;
  untilMs: number | null;
}>;

function queueReturnOf(completion: Completion): QueueReturn | undefined {
  const { outcome } = completion;
  switch (outcome.kind) {
    case 'release':
      return { refund: 1, error: null, delayMs: 0, untilMs: null };
    case 'block':
      return { isBlocked: 1, refund: 1, error: null, delayMs: 0, untilMs: null };
    case 'snooze':
      return { refund: 1, error: null, delayMs: outcome.delayMs, untilMs: outcome.untilMs ?? null };
    case 'retry':
      return { refund: 0, error: errorsAfter(completion), delayMs: outcome.delayMs, untilMs: null };
    default:
      return undefined;
  }
}

/** Enqueues the dead letters of jobs in the transaction in which they die, after the jobs and before their history. */
function* enqueueDeadLetters(completions: readonly Completion[]): Work<void> {
  const letters: NewJob[] = [];
  for (const { job, outcome, deadLetter } of completions) {
    const letter = outcome.kind === 'dead' && deadLetter && deadLetterOf(job, outcome.error, deadLetter);
    if (letter) letters.push(letter);
  }
  if (letters.length > 0) yield* enqueue(letters);
}
