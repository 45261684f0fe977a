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

/** The jobs of a flow, each after those that it needs. */
export interface FlowRecord {
  id: number;
  createdAt: Date;
  jobs: FlowNode[];
}
