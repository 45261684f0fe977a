import type { ClaimedJob } from '../../../../job/job.js';
import type { ClaimRequest, ClaimImplementation } from '../../../rows/claim.js';
import { CLAIMED_COLUMNS, MARK, writeClaim, type ClaimedRow } from '../../../rows/claimed-row.js';
import { idsOf } from '../../../../job/identifiers.js';
import { statement, Ids, query, executeAll, type Work } from '../../../core/statement.js';
import { CLAIMABLE, findFirstWaiting, OF_QUEUE } from './claimable.js';

const OLDEST_WAITING = `
  SELECT id ${CLAIMABLE}
  ORDER BY priority, id
  LIMIT :window`;

const NEWEST_WAITING = `
  SELECT id ${CLAIMABLE} AND priority = :priority
  ORDER BY id DESC
  LIMIT :window`;

// The comparison: a job that has started, or has left the queue for a stage or a group, after the read is not marked.
const MARK_IF_WAITING = `
  UPDATE {jobs} FORCE INDEX (PRIMARY)
  ${MARK}
  WHERE :ids AND ${OF_QUEUE} AND state = 'waiting'`;

const MARKED = `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} FORCE INDEX (PRIMARY)
  WHERE :ids AND claim_id = :claimId`;

const MAX_ROUNDS = 3;
const MAX_SPREAD = 32;

/**
 * Compare-and-set: reads jobs without locks, and marks those that still wait. If other claims marked some of them, the
 * next round picks at random from twice as many jobs, so that workers do not collide again. Without collisions, claims
 * keep the order.
 */
export function claimingOptimistically(): ClaimImplementation {
  // The claims of a queue pick from this multiple of the jobs that they need.
  const spreads = new Map<string, number>();
  return {
    // An UPDATE waits for the locks of other claims.
    mayShareTransaction: false,
    groupLock: 'lock',
    claim: (request) => claimOptimistically(request, spreads),
  };
}

function* claimOptimistically(request: ClaimRequest, spreads: Map<string, number>): Work<ClaimedJob[]> {
  const { queue, claimId, maxAttempts, limit } = request;
  const rows: ClaimedRow[] = [];
  for (let round = 1; round <= MAX_ROUNDS && rows.length < limit; round++) {
    const missing = limit - rows.length;
    const spread = spreads.get(queue) ?? 1;
    const found = yield* readWaiting(request, missing * spread);
    const picked = pickAtRandom(found, missing);
    if (picked.length === 0) break;
    const values = { ids: new Ids(picked), queue, claimId, maxAttempts };
    const [, answer] = yield* executeAll([statement(MARK_IF_WAITING, values), statement(MARKED, values)]);
    const inOrder = new Map((answer!.rows as unknown as readonly ClaimedRow[]).map((row) => [Number(row.id), row]));
    rows.push(...picked.flatMap((id) => inOrder.get(id) ?? []));
    const hasNoCollision = inOrder.size === picked.length;
    spreads.set(queue, hasNoCollision ? Math.max(1, spread / 2) : Math.min(MAX_SPREAD, spread * 2));
    if (hasNoCollision && found.length <= missing) break;
  }
  request.onLocked?.(rows.length);
  return yield* writeClaim(request, rows);
}

function* readWaiting({ queue, order }: ClaimRequest, window: number): Work<number[]> {
  if (order === 'fifo') return idsOf(yield* query<{ id: number }>(OLDEST_WAITING, { queue, window }));
  const urgent = yield* findFirstWaiting(queue);
  if (!urgent) return [];
  return idsOf(yield* query<{ id: number }>(NEWEST_WAITING, { queue, window, priority: urgent.priority }));
}

/** Keeps the order of the ids. */
function pickAtRandom(ids: readonly number[], count: number): number[] {
  let remaining = ids.length;
  let missing = Math.min(count, remaining);
  return ids.filter(() => {
    const isPicked = Math.random() * remaining-- < missing;
    if (isPicked) missing--;
    return isPicked;
  });
}
