import { randomId, idsOf, withSafeIds } from '../../../job/identifiers.js';
import type { Assignment, StageClaimRequest } from './consumer-store.js';
import { assignIdleJobs } from './assign.js';
import { toJobBeforeClaim, CLAIMED_COLUMNS, type ClaimedRow } from '../../rows/claimed-row.js';
import { Ids, query, type Values, type Work } from '../../core/statement.js';
import { pageSize } from '../../../common/lists.js';
import { IN_STAGE } from '../../tables/runnable.js';

// Reads without locks. The next statement locks each job and checks it again.
const WAITING = `
  SELECT {join in order} s.job_id AS id, s.priority
  FROM {stages} s {by stages.claim}
  JOIN {jobs} j {by primary} ON j.id = s.job_id
  WHERE s.queue = :queue AND s.stage = :stage AND s.priority >= :priority AND (s.priority > :priority OR s.job_id > :after)
    AND j.claim_id = 0 AND j.state = 'waiting' AND j.runnable = ${IN_STAGE}
  ORDER BY s.priority, s.job_id
  LIMIT :limit`;

const LOCK_WAITING = `
  SELECT ${CLAIMED_COLUMNS}
  FROM {jobs} {by primary}
  WHERE :ids AND claim_id = 0 AND state = 'waiting' AND runnable = ${IN_STAGE}
  ORDER BY id {lock free}`;

const STILL_IN_STAGE = `
  SELECT job_id AS id
  FROM {stages}
  WHERE job_id IN (:ids) AND queue = :queue AND stage = :stage`;

// Each page that had locked jobs is followed by a larger one.
const PAGE_FACTOR = 8;
const MAX_PAGE_SIZE = 500;

const BEFORE_FIRST_PRIORITY = -32_769;

export function* claimFromStage(request: StageClaimRequest): Work<Assignment[]> {
  const { queue, stage, limit, maxAttempts } = request;
  const rows = yield* lockFirst(request);
  if (rows.length === 0) return [];
  const jobs = rows.slice(0, limit).map((row) => ({ job: toJobBeforeClaim(row, queue, maxAttempts), to: randomId() }));
  return yield* assignIdleJobs(jobs, request, maxAttempts, stage);
}

/** Pages past jobs that other transactions have locked, until there are enough or the stage ends. */
function* lockFirst({ queue, stage, limit }: StageClaimRequest): Work<ClaimedRow[]> {
  const rows: ClaimedRow[] = [];
  let after: WaitingRow | undefined = { id: 0, priority: BEFORE_FIRST_PRIORITY };
  for (let size = limit; after && rows.length < limit; size = pageSize(Math.min(size * PAGE_FACTOR, MAX_PAGE_SIZE))) {
    const values: Values = { queue, stage, limit: size, priority: after.priority, after: after.id };
    const waiting: readonly WaitingRow[] = yield* query<WaitingRow>(WAITING, values);
    // A job whose id no number can hold must not block the others of its stage.
    rows.push(...(yield* lockStaged(idsOf(withSafeIds(waiting)), queue, stage)));
    after = waiting.length < size ? undefined : waiting.at(-1)!;
  }
  return rows;
}

type WaitingRow = Readonly<{ id: number; priority: number }>;

/** The jobs that no other transaction has locked and that are still in the stage, in the given order. */
function* lockStaged(ids: readonly number[], queue: string, stage: string): Work<ClaimedRow[]> {
  if (ids.length === 0) return [];
  const locked = yield* query<ClaimedRow>(LOCK_WAITING, { ids: new Ids(ids) });
  const staged = yield* query<{ id: number }>(STILL_IN_STAGE, { queue, stage, ids });
  const stagedIds = new Set(idsOf(staged));
  const byId = new Map(locked.map((row) => [Number(row.id), row]));
  return ids.flatMap((id) => (stagedIds.has(id) ? (byId.get(id) ?? []) : []));
}
