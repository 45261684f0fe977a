import { randomId } from '../../job/random-id.js';
import type { Assignment, StageRequest } from '../consumer-store.js';
import { take } from './assign.js';
import { claimedJob, CLAIMED_COLUMNS, type ClaimedRow } from './claimed-row.js';
import { Ids, query, type Work } from './statement.js';

// Read without locks: each is locked and looked at again.
const WAITING = `
  SELECT /*! STRAIGHT_JOIN */ s.job_id AS id
  FROM {stages} s /*! FORCE INDEX ({stages}_place) */
  JOIN {jobs} j /*! FORCE INDEX (PRIMARY) */ ON j.id = s.job_id
  WHERE s.queue = :queue AND s.stage = :stage AND j.claim_id = 0 AND j.state = 'waiting' AND j.runnable = 2
  ORDER BY s.priority, s.job_id
  LIMIT :window`;

const LOCK_WAITING = `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = 0 AND state = 'waiting' AND runnable = 2
  ORDER BY id /*! FOR UPDATE SKIP LOCKED */`;

const STILL_THERE = `
  SELECT job_id AS id
  FROM {stages}
  WHERE job_id IN (:ids) AND queue = :queue AND stage = :stage`;

// Where others have locked those that stand first, so many times as many are looked at, and once more.
const WIDEN = 8;
const WIDEST = WIDEN * WIDEN;

/** Jobs of the stage are looked at without locks, then locked by their keys, then asked once more where they stand. */
export function* takeFromStage(request: StageRequest): Work<Assignment[]> {
  const { queue, stage, limit, maxAttempts } = request;
  const rows = yield* lockFirst(request);
  if (rows.length === 0) return [];
  const taken = rows.slice(0, limit).map((row) => {
    return { job: claimedJob(row, queue, maxAttempts, row.attempt + 1), to: randomId() };
  });
  return yield* take(taken, request, maxAttempts, stage);
}

function* lockFirst({ queue, stage, limit }: StageRequest): Work<ClaimedRow[]> {
  for (let window = limit; ; window *= WIDEN) {
    const seen = idsOf(yield* query<{ id: number }>(WAITING, { queue, stage, window }));
    if (seen.length === 0) return [];
    const locked = yield* query<ClaimedRow>(LOCK_WAITING, { ids: new Ids(seen) });
    const there = yield* query<{ id: number }>(STILL_THERE, { queue, stage, ids: seen });
    const ours = new Set(idsOf(there));
    const byId = new Map(locked.map((row) => [Number(row.id), row]));
    const rows = seen.flatMap((id) => (ours.has(id) ? (byId.get(id) ?? []) : []));
    if (rows.length >= limit || seen.length < window || window >= limit * WIDEST) return rows;
  }
}

function idsOf(rows: readonly { id: number }[]): number[] {
  return rows.map(({ id }) => Number(id));
}
