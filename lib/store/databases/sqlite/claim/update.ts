import type { ClaimStrategy } from '../../../../job/claim-strategy.js';
import type { ClaimRequest, ClaimImplementation, ClaimStrategies } from '../../../rows/claim.js';
import type { ClaimedJob } from '../../../../job/job.js';
import { CLAIMED_COLUMNS, MARK, writeClaim, type ClaimedRow } from '../../../rows/claimed-row.js';
import { query, type Work } from '../../../core/statement.js';
import { IN_QUEUE } from '../../../tables/runnable.js';

const claimIn = (order: string) => `
  UPDATE {jobs}${MARK}
  WHERE id IN (
    SELECT id
    FROM {jobs} INDEXED BY {jobs}_queue
    WHERE queue = :queue AND runnable = ${IN_QUEUE} AND state = 'waiting' AND run_at IS NULL AND group_key = ''
    ORDER BY priority, id ${order}
    LIMIT :limit
  )
  RETURNING ${CLAIMED_COLUMNS}`;

export const CLAIM_OLDEST = claimIn('ASC');
const CLAIM_NEWEST = claimIn('DESC');

/** Marks and reads jobs in one statement, because SQLite has one writer at a time. */
const BY_UPDATE: ClaimImplementation = { mayShareTransaction: true, groupLock: 'lock', claim: claimInOneStatement };

export const SQLITE_CLAIMS: ClaimStrategies = {
  supported: { update: BY_UPDATE },
  unsupported: {
    'skip-locked': 'SQLite locks no rows, and has one writer at a time',
    lock: 'SQLite locks no rows, so a handler would hold up every other writer',
    optimistic: 'SQLite has one writer at a time, so claims never conflict',
  } satisfies Record<Exclude<ClaimStrategy, 'update'>, string>,
  findRefusals: () => Promise.resolve({}),
};

function* claimInOneStatement(request: ClaimRequest): Work<ClaimedJob[]> {
  const { queue, limit, claimId, maxAttempts, order } = request;
  const statement = order === 'fifo' ? CLAIM_OLDEST : CLAIM_NEWEST;
  const rows = yield* query<ClaimedRow>(statement, { queue, limit, claimId, maxAttempts });
  request.onLocked?.(rows.length);
  // RETURNING guarantees no order.
  const direction = order === 'fifo' ? 1 : -1;
  const inOrder = [...rows].sort((a, b) => a.priority - b.priority || direction * (a.id - b.id));
  return yield* writeClaim(request, inOrder);
}
