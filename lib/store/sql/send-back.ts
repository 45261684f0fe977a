import type { Settlement } from '../job-store.js';
import { REFUNDED_ATTEMPT } from './claimed-row.js';
import { fence, type Fenced } from './fence.js';

const SCHEDULE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET state = 'scheduled', runnable = 0, run_at = COALESCE(:untilMs, :now + :delayMs), due_at = NULL, claim_id = 0,
      attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

// A retry is due now. A released job goes on waiting, and its row keeps its length.
const PUT_BACK = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET state = 'waiting', claim_id = 0, due_at = CASE WHEN :refund = 0 THEN :now ELSE due_at END, attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

/** Sends jobs back that go on: one statement for all released ones, one for each group of others that go the same way. */
export function sendBack(claimId: number, settlements: readonly Settlement[]): Fenced[] {
  const groups = new Map<string, { goes: Return; settlements: Settlement[] }>();
  for (const settlement of settlements) {
    const goes = wayBack(settlement.outcome);
    if (!goes) continue;
    const key = JSON.stringify(goes);
    const group = groups.get(key);
    if (group) group.settlements.push(settlement);
    else groups.set(key, { goes, settlements: [settlement] });
  }
  return Array.from(groups.values(), (group) =>
    fence(group.goes.delayMs > 0 ? SCHEDULE : PUT_BACK, claimId, group.settlements, group.goes),
  );
}

type Return = Readonly<{ refund: number; error: string | null; delayMs: number; untilMs: number | null }>;

function wayBack(outcome: Settlement['outcome']): Return | undefined {
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
