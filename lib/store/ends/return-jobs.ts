import { groupBy } from '../../common/group-by.js';
import { REFUNDED_ATTEMPT } from '../rows/claimed-row.js';
import type { Completion } from '../rows/completion.js';
import { errorsAfter } from '../rows/error-column.js';
import { fence, type FencedStatement } from '../rows/fence.js';
import { BLOCKED, IN_STAGE, RETURNED, SCHEDULED } from '../tables/runnable.js';

const SCHEDULE = `
  UPDATE {jobs} {by primary}
  SET state = 'scheduled', runnable = ${SCHEDULED}, run_at = COALESCE(:untilMs, :now + :delayMs), due_at = NULL, claim_id = 0,
      attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

// A retried job is due now, and a released job keeps its due time. The row keeps its length.
const RETURN_TO_WAITING = `
  UPDATE {jobs} {by primary}
  SET state = 'waiting', runnable = CASE WHEN group_key = '' OR runnable = ${IN_STAGE} THEN runnable ELSE ${RETURNED} END, claim_id = 0, due_at = CASE WHEN :refund = 0 THEN :now ELSE due_at END, attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

const BLOCK = `
  UPDATE {jobs} {by primary}
  SET state = 'blocked', runnable = ${BLOCKED}, claim_id = 0, attempt = ${REFUNDED_ATTEMPT}
  WHERE :ids AND claim_id = :claimId`;

/** The statements that return jobs of a claim to their queues: one for each group of equal returns. Skips finished jobs. */
export function returnJobs(claimId: number, completions: readonly Completion[]): FencedStatement[] {
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
