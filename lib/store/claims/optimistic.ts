import type { ClaimedJob } from '../../job/job.js';
import type { ClaimRequest } from '../job-store.js';
import { CLAIMED_COLUMNS, safeId, type ClaimedRow } from '../sql/claimed-row.js';
import { Ids, query, together, type Work } from '../sql/statement.js';
import type { ClaimStart } from './claim-bounds.js';
import { CLAIMABLE, oldest } from './claimable.js';
import { MARK, writeClaim } from './claim-row.js';

const OLDEST_WAITING = `
  SELECT id ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT :window`;

const NEWEST_WAITING = `
  SELECT id ${CLAIMABLE} AND priority = :priority
  ORDER BY id DESC
  LIMIT :window`;

// The comparison: whatever happened to a job since it was looked at, only one that waits is taken.
const SET_IF_FREE = `
  UPDATE {jobs} FORCE INDEX (PRIMARY)
  ${MARK}
  WHERE :ids AND state = 'waiting' AND run_at IS NULL`;

const TAKEN = `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} FORCE INDEX (PRIMARY)
  WHERE :ids AND claim_id = :claimId`;

// Others were there first: then somewhere else.
const MOST_ROUNDS = 3;
const WIDEST = 32;

/**
 * Compare-and-set: looks at jobs without locks, and takes those that are still free. Where others take the same ones it
 * chooses at random from ever more of them, so that several workers do not meet; where nobody does, in order.
 */
export function* claimFree(request: ClaimRequest, { known }: ClaimStart): Work<ClaimedJob[]> {
  const { claimId, maxAttempts, limit } = request;
  const rows: ClaimedRow[] = [];
  for (let round = 1; round <= MOST_ROUNDS && rows.length < limit; round++) {
    const missing = limit - rows.length;
    const seen = yield* waiting(request, missing * known.spread);
    const picked = pick(seen, missing);
    if (picked.length === 0) break;
    const values = { ids: new Ids(picked), claimId, maxAttempts };
    const [, answer] = yield* together([
      { sql: SET_IF_FREE, values },
      { sql: TAKEN, values },
    ]);
    const inOrder = new Map((answer!.rows as unknown as readonly ClaimedRow[]).map((row) => [Number(row.id), row]));
    rows.push(...picked.flatMap((id) => inOrder.get(id) ?? []));
    const isUndisturbed = inOrder.size === picked.length;
    known.spread = isUndisturbed ? Math.max(1, known.spread / 2) : Math.min(WIDEST, known.spread * 2);
    if (isUndisturbed && seen.length <= missing) break;
  }
  return yield* writeClaim(request, rows);
}

function* waiting({ queue, order }: ClaimRequest, window: number): Work<number[]> {
  if (order === 'fifo') return idsOf(yield* query<{ id: number }>(OLDEST_WAITING, { queue, window }));
  const urgent = yield* oldest(queue);
  if (!urgent) return [];
  return idsOf(yield* query<{ id: number }>(NEWEST_WAITING, { queue, window, priority: urgent.priority }));
}

/** So many of them at random, in their order. */
function pick(ids: readonly number[], count: number): number[] {
  let left = ids.length;
  let wanted = Math.min(count, left);
  return ids.filter(() => {
    const isPicked = Math.random() * left-- < wanted;
    if (isPicked) wanted--;
    return isPicked;
  });
}

function idsOf(rows: readonly { id: number }[]): number[] {
  return rows.map(({ id }) => safeId(id));
}
