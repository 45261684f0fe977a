import type { ClaimRequest } from '../job-store.js';
import type { ClaimedJob } from '../../job/job.js';
import { inStartOrder } from '../../job/outcome.js';
import { CLAIMED_COLUMNS, claimedJob, NEXT_ATTEMPT, type ClaimedRow } from '../sql/claimed-row.js';
import { changesOf } from '../sql/changes.js';
import { claimRow } from '../sql/lease.js';
import { note, query, together, type Work } from '../sql/statement.js';

const claimIn = (order: string) => `
  UPDATE {jobs}
  SET state = 'active', claim_id = :claimId, attempt = ${NEXT_ATTEMPT},
      max_attempts = COALESCE(NULLIF(max_attempts, 0), :maxAttempts)
  WHERE id IN (
    SELECT id
    FROM {jobs} INDEXED BY {jobs}_claim
    WHERE queue = :queue AND runnable = 1 AND state = 'waiting' AND run_at IS NULL
    ORDER BY priority, id ${order}
    LIMIT :limit
  )
  RETURNING ${CLAIMED_COLUMNS}`;

const CLAIM_OLDEST = claimIn('ASC');
const CLAIM_NEWEST = claimIn('DESC');

/** One statement takes and reads them, as SQLite has one writer at a time. */
export function* claimInOneStatement(request: ClaimRequest): Work<ClaimedJob[]> {
  const { queue, limit, claimId, maxAttempts, order } = request;
  const statement = order === 'fifo' ? CLAIM_OLDEST : CLAIM_NEWEST;
  const rows = yield* query<ClaimedRow>(statement, { queue, limit, claimId, maxAttempts });
  request.onLocked?.();
  if (rows.length === 0) return [];
  // RETURNING promises no order.
  const direction = order === 'fifo' ? 1 : -1;
  const inOrder = [...rows].sort((a, b) => a.priority - b.priority || direction * (a.id - b.id));
  const jobs = inStartOrder(inOrder.map((row) => claimedJob(row, queue, maxAttempts)));
  yield* note(changesOf('claimed', jobs, request.owner));
  yield* together([claimRow(request, jobs)]);
  return jobs;
}
