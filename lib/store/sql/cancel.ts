import { readIds } from '../../job/read-columns.js';
import type { CancelAnswer } from '../admin-store.js';
import type { Settlement } from '../job-store.js';
import { CLAIMED_COLUMNS, idleJob, type ClaimedRow } from './claimed-row.js';
import { endHeld } from './end-assignment.js';
import { historyMs, keepFinished } from './history.js';
import { lockHeld } from './hold.js';
import { changesOf } from './changes.js';
import { change, note, query, type Work } from './statement.js';

const CLAIM_OF = `
  SELECT claim_id
  FROM {jobs}
  WHERE id = :id`;

const LOCK_JOB = `
  SELECT ${CLAIMED_COLUMNS}, queue
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id AND claim_id = 0 /*! FOR UPDATE */`;

const TAKE_JOB = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id AND claim_id = 0`;

const LOCK_CLAIM = `
  SELECT worker_id, cancelled, owner
  FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :claimId /*! FOR UPDATE */`;

const WISH = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET cancelled = :cancelled
  WHERE id = :claimId`;

interface ClaimRow {
  worker_id: string;
  cancelled: string | null;
  owner: string | null;
}

// How often a job may change hands while somebody tries to cancel it.
const TRIES = 5;

export function* cancelJob(id: number, keepMs: (queue: string) => number | false): Work<CancelAnswer> {
  for (let tries = 0; tries < TRIES; tries++) {
    const [job] = yield* query<{ claim_id: number }>(CLAIM_OF, { id });
    if (!job) return { state: 'too-late' };
    const answer =
      Number(job.claim_id) === 0
        ? yield* cancelIdle(id, keepMs)
        : yield* cancelClaimed(id, Number(job.claim_id), keepMs);
    if (answer) return answer;
  }
  return { state: 'too-late' };
}

function* cancelIdle(id: number, keepMs: (queue: string) => number | false): Work<CancelAnswer | undefined> {
  const [row] = yield* query<ClaimedRow & { queue: string }>(LOCK_JOB, { id });
  if (!row) return undefined;
  const job = idleJob(row, row.queue);
  yield* note(changesOf('cancelled', [job]));
  yield* change(TAKE_JOB, { id });
  const ended: Settlement = {
    ...{ job, claimId: 0, workerId: null, outcome: { kind: 'cancel' }, ranMs: null },
    keepMs: keepMs(row.queue),
  };
  if (historyMs(ended) !== false) yield* keepFinished([ended]);
  return { state: 'cancelled' };
}

function* cancelClaimed(
  id: number,
  claimId: number,
  keepMs: (queue: string) => number | false,
): Work<CancelAnswer | undefined> {
  const [claim] = yield* query<ClaimRow>(LOCK_CLAIM, { claimId });
  if (!claim) return undefined;
  // While the claim is locked no flush can end it, but the job may have left it before.
  const [job] = yield* query<{ claim_id: number }>(CLAIM_OF, { id });
  if (Number(job?.claim_id) !== claimId) return undefined;
  if (claim.owner !== null) return yield* cancelHeld(id, keepMs);
  const cancelled = new Set(readIds(claim.cancelled) ?? []).add(id);
  yield* change(WISH, { claimId, cancelled: JSON.stringify([...cancelled]) });
  return { state: 'requested', workerId: claim.worker_id };
}

/** Nobody would be told of a wish: no worker runs the job, and whoever holds it will be refused. */
function* cancelHeld(id: number, keepMs: (queue: string) => number | false): Work<CancelAnswer> {
  const held = yield* lockHeld(id, 'whoever');
  yield* endHeld(held, { outcome: { kind: 'cancel' }, keepMs: keepMs(held.job.queue) });
  return { state: 'cancelled' };
}
