import { groupBy } from '../../common/group-by.js';
import type { Completion } from './completion.js';
import { REFUNDED_ATTEMPT } from './claimed-row.js';
import { fence, type FencedStatement } from './fence.js';

const SCHEDULE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET state = 'scheduled', runnable = 0, run_at = COALESCE(:untilMs, :now + :delayMs), due_at = NULL, claim_id = 0,
      attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

// A retried job is due now, and a released job keeps its due time. The row keeps its length.
const RETURN_TO_WAITING = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET state = 'waiting', claim_id = 0, due_at = CASE WHEN :refund = 0 THEN :now ELSE due_at END, attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

/** Skips finished jobs. One statement for each group of equal returns. */
export function returnToQueue(claimId: number, completions: readonly Completion[]): FencedStatement[] {
  const groups = groupBy(completions, ({ outcome }) => JSON.stringify(queueReturnOf(outcome)));
  return [...groups.values()].flatMap((group) => {
    const queueReturn = queueReturnOf(group[0]!.outcome);
    if (!queueReturn) return [];
    return fence(queueReturn.delayMs > 0 ? SCHEDULE : RETURN_TO_WAITING, claimId, group, queueReturn);
  });
}

type QueueReturn = Readonly<{ refund: number; error: string | null; delayMs: number; untilMs: number | null }>;

function queueReturnOf(outcome: Completion['outcome']): QueueReturn | undefined {
  switch (outcome.kind) {
    case 'release':
      return { refund: 1, error: null, delayMs: 0, untilMs: null };
    case 'snooze':
      return { refund: 1, error: null, delayMs: outcome.delayMs, untilMs: outcome.untilMs ?? null };
    case 'retry':
      return { refund: 0, error: JSON.stringify(outcome.error), delayMs: outcome.delayMs, untilMs: null };
    default:
      return undefined;
  }
}
