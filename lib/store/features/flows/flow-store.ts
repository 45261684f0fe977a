import type { FlowChild, FlowFilter, FlowRecord, FlowSummary, JobRelatives } from '../../../job/flows/flow-record.js';
import type { NewFlow, OnFailure } from '../../../job/flows/flow.js';
import type { NewJob } from '../../../job/job.js';
import type { PagePosition, PageRequest } from '../../../job/page-options.js';
import type { CallerTransaction } from '../../core/caller-transaction.js';
import type { EventJob } from '../../core/event-outbox.js';
import type { StepOwner } from '../steps/step-store.js';

/** A stored flow. The ids are in the order of its jobs. */
export interface StoredFlow {
  readonly id: number;
  readonly jobIds: readonly number[];
}

/** The children of one call, which a step remembers. */
export interface StoredFanOut {
  /** Empty if the step was stored before. */
  readonly ids: readonly number[];
  /** The flow of the job and its children; undefined if it is in none, because it has never had children. */
  readonly flow: number | undefined;
}

/** A blocked job that can run now, or after its delay. */
export interface UnblockedJob extends EventJob {
  readonly priority: number;
  readonly delayMs: number;
}

/** The jobs whose state has changed because others have ended. */
export interface SettledJobs {
  readonly unblocked: readonly UnblockedJob[];
  readonly cancelled: readonly EventJob[];
  /** Jobs that need not be blocked, but that another transaction has locked. Undefined: none. */
  readonly locked?: readonly number[] | undefined;
}

export type RetentionOf = (queue: string) => number | false;

/** Stores which jobs wait for others, and unblocks or cancels these when those have ended. */
export interface FlowStore {
  /** Stores all jobs of the flow or none. */
  create(flow: NewFlow, transaction?: CallerTransaction): Promise<StoredFlow>;

  /**
   * Enqueues jobs for which the owner's job waits from now on, and remembers that in a step. Resolves with undefined if the
   * claim has lost the job. The end of the job must name its flow, which its claim may not know.
   *
   * @param fanOutNumber that of the call in its run, from 1
   */
  fanOut(
    owner: StepOwner,
    step: string,
    jobs: readonly NewJob[],
    onFailure: OnFailure,
    fanOutNumber?: number,
  ): Promise<StoredFanOut | undefined>;

  /**
   * Whether the job must be blocked: it waits for others, or one of them has failed. Call it after the step is stored. Also
   * true if this database does not know the step yet, which can be a node of a cluster after a failover.
   */
  mustWait(jobId: number, step: string): Promise<boolean>;

  /** Unblocks or cancels the jobs that waited for these jobs. Call it after these have ended. May be repeated. */
  settle(endedIds: readonly number[], retentionMs: RetentionOf): Promise<SettledJobs>;

  /** Unblocks or cancels these jobs if they are blocked and need not be. Call it after they were blocked. */
  recheck(blockedIds: readonly number[], retentionMs: RetentionOf): Promise<SettledJobs>;

  /** Settles a part of all blocked jobs: a process may have died before it could. */
  sweep(retentionMs: RetentionOf): Promise<SettledJobs>;

  /**
   * The jobs that the job has waited for, by id, after the given id.
   *
   * @param fanOuts leaves out the children of later fan-outs; default: of none
   */
  children(jobId: number, after: number, limit: number, fanOuts?: number): Promise<readonly FlowChild[]>;

  /** The jobs that wait for the job and those that it waits for, up to `limit` of each, by id. Reads without locks. */
  relatives(jobId: number, limit: number): Promise<JobRelatives>;

  /** Null if the flow does not exist, or was deleted after its jobs. */
  read(flowId: number): Promise<FlowRecord | null>;

  /** The flows in the order of their creation. Reads a bounded part of each, without locks. */
  list(page: PageRequest, filter: FlowFilter): Promise<{ readonly flows: FlowSummary[]; readonly next?: PagePosition }>;

  /** Deletes flows whose last jobs are gone. Returns how many rows it has examined. */
  prune(limit: number): Promise<number>;
}
