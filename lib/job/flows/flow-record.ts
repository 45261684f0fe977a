import type { FinalState, JobState } from '../job-state.js';
import type { StoredError } from '../stored-error.js';
import type { OnFailure } from './flow.js';

/** A job that another one has waited for, as its handler reads it. */
export interface FlowChild<Result = unknown> {
  id: number;
  queue: string;
  name: string;
  /** Null if it has not ended. */
  state: FinalState | null;
  /** The return value of its handler; null without one. */
  result: Result | null;
  /** The error if it is dead or cancelled; null without one. */
  error: StoredError | null;
}

/** A job of a flow. */
export interface FlowNode {
  id: number;
  queue: string;
  name: string;
  /** `removed`: the job was deleted, or its retention is over. */
  state: JobState | 'removed';
  /** The jobs that it waits for, or has waited for. */
  needs: { id: number; onFailure: OnFailure; state: FinalState | null }[];
}

/** A job that waits for another one, or that another one waits for. */
export type RelatedJob = Pick<FlowNode, 'id' | 'queue' | 'name' | 'state'>;

/** Some of the related jobs, by id, and the number of all of them. */
export interface RelatedJobs {
  jobs: RelatedJob[];
  /** The number of all of these jobs, counted up to 1,000. */
  count: number;
  /** Whether there may be more than `count` jobs. */
  atLeast: boolean;
}

/** The relatives of a job in its flow. */
export interface JobRelatives {
  /** The jobs that wait for this one, or have waited for it. */
  parents: RelatedJobs;
  /** The jobs that this one waits for, or has waited for. */
  children: RelatedJobs;
}

/** The jobs of a flow, each after those that it needs. */
export interface FlowRecord {
  id: number;
  createdAt: Date;
  jobs: FlowNode[];
}

/**
 * `running`: jobs that no other one needs have not ended. `stuck`: these wait for a dead or cancelled job, with
 * `onFailure: 'wait'`. The others have ended: `failed` with a dead job, `cancelled` with a cancelled one, or `completed`.
 */
export type FlowState = (typeof FLOW_STATES)[number];

export const FLOW_STATES = ['stuck', 'running', 'failed', 'cancelled', 'completed'] as const;

/** Selects flows that meet all given conditions. */
export interface FlowFilter {
  state?: FlowState;
  /** Only flows with a job in this queue, among the counted ones. */
  queue?: string;
}

/** A flow in a list. */
export interface FlowSummary {
  id: number;
  /** The queue and the name of its first job. */
  queue: string;
  name: string;
  state: FlowState;
  createdAt: Date;
  /** The number of its jobs in each state. */
  counts: Record<FlowNode['state'], number>;
  /** It has more jobs: at most 1,000 dependencies and 30 levels are counted, the last jobs first. */
  atLeast: boolean;
  /** The queues of the counted jobs. */
  queues: string[];
}
