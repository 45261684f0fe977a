import { batchesOf, pageSize } from '../../../common/lists.js';
import { inCallerTransaction } from '../../core/caller-transaction.js';
import { deleteFrom, execute, query, queryIds, type Work } from '../../core/statement.js';
import type { StoreParts } from '../../rows/store-parts.js';
import type { EventJob } from '../../core/event-outbox.js';
import { createFlow, fanOut } from './create-flow.js';
import { listFlows } from './list-flows.js';
import type { FlowStore, RetentionOf, SettledJobs, UnblockedJob } from './flow-store.js';
import { mustWait, readChildren, readFlow, readJobIds } from './read-flow.js';
import { readRelatives } from './read-relatives.js';
import { nextChecks } from '../../reads/remaining-jobs.js';
import { findSettled, readBlocked, settleJobs, type BlockedPosition } from './settle-jobs.js';

const BATCH_SIZE = 500;
const PRUNE_BATCH_SIZE = 100;
// A sweep reads this number of blocked jobs of each queue.
const SWEEP_PAGE_SIZE = 5_000;

const EXPIRED = `
  SELECT id
  FROM {flows} {by flows.expiry}
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit`;

// Whether one of the last jobs is left. One statement, so that a job that moves to the history is found in one of the two
// tables.
const REMAINING = `
  SELECT e.needs
  FROM {edges} e {by primary}
  WHERE e.job_id = :id
    AND (EXISTS (SELECT 1 FROM {history} h WHERE h.id = e.needs) OR EXISTS (SELECT 1 FROM {jobs} j WHERE j.id = e.needs))
  LIMIT 1`;

const POSTPONE = `
  UPDATE {flows} {by primary}
  SET expires_at = :at
  WHERE id = :id AND expires_at <= :now`;

const DELETE_EDGES = deleteFrom('edges', 'job_id = :id');
const DELETE_FLOW = deleteFrom('flows', 'id = :id');

const START: BlockedPosition = { group: '', priority: -32_769, id: 0 };

export function sqlFlowStore({ database, blocking, dialect, scanCursors }: StoreParts): FlowStore {
  /** The last blocked job that the previous sweep has read, by queue. */
  const swept = new Map<string, BlockedPosition>();

  async function settledAfter(endedIds: readonly number[]): Promise<number[]> {
    const found: number[] = [];
    for (const batch of batchesOf(endedIds, BATCH_SIZE))
      found.push(...(await database.runIdempotent(() => findSettled(batch))));
    return found;
  }

  async function recheck(blockedIds: readonly number[], retentionMs: RetentionOf): Promise<SettledJobs> {
    const unblocked: UnblockedJob[] = [];
    const cancelled: EventJob[] = [];
    const locked: number[] = [];
    // Other jobs may need the cancelled ones, and a flow may be a chain of any length.
    for (let ids = blockedIds; ids.length > 0;) {
      const ended: number[] = [];
      for (const batch of batchesOf(ids, BATCH_SIZE)) {
        const changed = await blocking.transaction(() => settleJobs(batch, retentionMs));
        unblocked.push(...changed.unblocked);
        cancelled.push(...changed.cancelled);
        locked.push(...(changed.locked ?? []));
        ended.push(...changed.cancelled.map(({ id }) => id));
      }
      ids = await settledAfter(ended);
    }
    scanCursors.moveBefore(unblocked);
    return { unblocked, cancelled, ...(locked.length > 0 && { locked }) };
  }

  return {
    create: (flow, transaction) =>
      transaction
        ? inCallerTransaction(database, transaction, () => createFlow(flow))
        : blocking.transactOnce(() => createFlow(flow)),

    fanOut: (...given) => blocking.transaction(() => fanOut(...given)),

    mustWait: (jobId, step) => database.runIdempotent(() => mustWait(jobId, step)),

    settle: async (endedIds, retentionMs) => recheck(await settledAfter(endedIds), retentionMs),

    recheck,

    async sweep(retentionMs) {
      const found: number[] = [];
      const limit = pageSize(SWEEP_PAGE_SIZE);
      for (const queue of await database.runIdempotent(() => dialect.queueNames('jobs'))) {
        const after = swept.get(queue) ?? START;
        const { settled, next } = await database.runIdempotent(() => readBlocked(queue, after, limit));
        if (next) swept.set(queue, next);
        else swept.delete(queue);
        found.push(...settled);
      }
      return recheck(found, retentionMs);
    },

    children: (...given) => database.runIdempotent(() => readChildren(...given)),

    relatives: (jobId, limit) => database.runIdempotent(() => readRelatives(jobId, limit)),

    read: (flowId) => database.runIdempotent(() => readFlow(flowId)),

    list: (page, filter) => database.runIdempotent(() => listFlows(page, filter)),

    async prune(limit) {
      const expired = await database.runIdempotent(() => queryIds(EXPIRED, { limit }));
      for (const id of expired) {
        const jobIds = await database.runIdempotent(() => jobsOfEnded(id));
        if (!jobIds) continue;
        // The ends of the flow come last, so that a flow that is deleted in part is found again.
        for (const batch of batchesOf([...jobIds.reverse(), -id], PRUNE_BATCH_SIZE))
          await database.runIdempotent(() => deleteEdges(batch));
        await database.runIdempotent(() => execute(DELETE_FLOW, { id }));
      }
      return expired.length;
    },
  };
}

/**
 * The ids of the jobs of the flow; undefined if one of them still exists. Then the next check follows when that job may be gone:
 * it can wait for others, or be retried, also if the last jobs of the flow are gone.
 */
function* jobsOfEnded(id: number): Work<number[] | undefined> {
  const [last] = yield* query<{ needs: number }>(REMAINING, { id: -id });
  const jobIds = last ? [Number(last.needs)] : yield* readJobIds(id);
  const at = yield* lastCheckOf(jobIds);
  if (at !== undefined) yield* execute(POSTPONE, { id, at });
  return last || at !== undefined ? undefined : jobIds;
}

/** Of the first batch with jobs that still exist. The flow stays at least until the last of them is gone. */
function* lastCheckOf(jobIds: readonly number[]): Work<number | undefined> {
  for (const batch of batchesOf(jobIds, BATCH_SIZE)) {
    const checks = yield* nextChecks(batch);
    if (checks.size > 0) return Math.max(...checks.values());
  }
  return undefined;
}

function* deleteEdges(jobIds: readonly number[]): Work<void> {
  for (const id of jobIds) yield* execute(DELETE_EDGES, { id });
}
