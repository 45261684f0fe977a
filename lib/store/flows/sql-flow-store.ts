import type { FlowChild, FlowRecord } from '../../job/flows/flow-record.js';
import type { NewFlow, OnFailure } from '../../job/flows/flow.js';
import type { NewJob } from '../../job/job.js';
import type { CallerTransaction } from '../core/caller-transaction.js';
import { batchesOf } from '../../common/batches-of.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import type { ScanCursors } from '../jobs/claim/scan-cursors.js';
import type { EventJob } from '../jobs/job-events.js';
import type { StepOwner } from '../steps/step-store.js';
import { createFlow, fanOut } from './create-flow.js';
import type * as port from './flow-store.js';
import { deleteEdges, deleteFlow, findExpiredFlows, keepsFlow, readEdgeBatches } from './prune-flows.js';
import { mustWait, readChildren, readFlow } from './read-flow.js';
import { findSettled, readBlocked, settleJobs, type BlockedPosition } from './settle-jobs.js';

const BATCH_SIZE = 500;
// A sweep reads this number of blocked jobs of each queue.
const SWEEP_PAGE_SIZE = 5_000;

const START: BlockedPosition = { group: '', priority: -32_769, id: 0 };

export class SqlFlowStore implements port.FlowStore {
  /** The last blocked job that the previous sweep has read, by queue. */
  readonly #swept = new Map<string, BlockedPosition>();

  /** @param blocking for verbs that lock jobs, which a caller's transaction may have locked */
  constructor(
    private readonly database: SqlDatabase,
    private readonly blocking: SqlDatabase,
    private readonly dialect: Dialect,
    private readonly scanCursors: ScanCursors,
  ) {}

  create(flow: NewFlow, transaction?: CallerTransaction): Promise<port.StoredFlow> {
    if (transaction) return this.database.inCallerTransaction(transaction, () => createFlow(flow));
    return this.blocking.transactOnce(() => createFlow(flow));
  }

  fanOut(
    owner: StepOwner,
    step: string,
    jobs: readonly NewJob[],
    onFailure: OnFailure,
  ): Promise<readonly number[] | undefined> {
    return this.blocking.transaction(() => fanOut(owner, step, jobs, onFailure));
  }

  mustWait(jobId: number, step: string): Promise<boolean> {
    return this.database.runIdempotent(() => mustWait(jobId, step));
  }

  async settle(endedIds: readonly number[], retentionMs: port.RetentionOf): Promise<port.SettledJobs> {
    const found: number[] = [];
    for (const batch of batchesOf(endedIds, BATCH_SIZE))
      found.push(...(await this.database.runIdempotent(() => findSettled(batch))));
    return this.recheck(found, retentionMs);
  }

  async recheck(blockedIds: readonly number[], retentionMs: port.RetentionOf): Promise<port.SettledJobs> {
    const unblocked: port.UnblockedJob[] = [];
    const cancelled: EventJob[] = [];
    for (const ids of batchesOf(blockedIds, BATCH_SIZE)) {
      const changed = await this.blocking.transaction(() => settleJobs(ids, retentionMs));
      unblocked.push(...changed.unblocked);
      cancelled.push(...changed.cancelled);
    }
    if (unblocked.length > 0) this.scanCursors.reset();
    if (cancelled.length === 0) return { unblocked, cancelled };
    // Others may need the cancelled jobs.
    const next = await this.settle(
      cancelled.map(({ id }) => id),
      retentionMs,
    );
    return { unblocked: [...unblocked, ...next.unblocked], cancelled: [...cancelled, ...next.cancelled] };
  }

  async sweep(retentionMs: port.RetentionOf): Promise<port.SettledJobs> {
    const found: number[] = [];
    for (const queue of await this.database.runIdempotent(() => this.dialect.queueNames('jobs'))) {
      const after = this.#swept.get(queue) ?? START;
      const { settled, next } = await this.database.runIdempotent(() => readBlocked(queue, after, SWEEP_PAGE_SIZE));
      if (next) this.#swept.set(queue, next);
      else this.#swept.delete(queue);
      found.push(...settled);
    }
    return this.recheck(found, retentionMs);
  }

  children(jobId: number, after: number, limit: number): Promise<readonly FlowChild[]> {
    return this.database.runIdempotent(() => readChildren(jobId, after, limit));
  }

  read(flowId: number): Promise<FlowRecord | null> {
    return this.database.runIdempotent(() => readFlow(flowId));
  }

  async prune(limit: number): Promise<number> {
    const expired = await this.database.runIdempotent(() => findExpiredFlows(limit));
    for (const id of expired) {
      if (await this.database.runIdempotent(() => keepsFlow(id))) continue;
      // The last jobs come last, so that a flow that is deleted in part is found again.
      for (const batch of await this.database.runIdempotent(() => readEdgeBatches(id)))
        await this.database.runIdempotent(() => deleteEdges(batch));
      await this.database.runIdempotent(() => deleteFlow(id));
    }
    return expired.length;
  }
}
