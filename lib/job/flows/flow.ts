import { FlowTooLargeError } from '../errors.js';
import type { NewJob } from '../job.js';

/**
 * What happens to a job if one that it needs ends dead or cancelled: `cancel` cancels it, too. `run` lets it run
 * nevertheless. `wait` keeps it blocked until the other job is retried and completes.
 */
export type OnFailure = 'cancel' | 'run' | 'wait';

export const ON_FAILURE: readonly OnFailure[] = ['cancel', 'run', 'wait'];

/** One job waits for the end of another one. Both are positions in the list of jobs. */
export interface NewEdge {
  readonly job: number;
  readonly needs: number;
  readonly onFailure: OnFailure;
}

/** Jobs that are to be stored together, and which of them wait for others. */
export interface NewFlow {
  readonly jobs: readonly NewJob[];
  /** In the order of the jobs that wait. */
  readonly edges: readonly NewEdge[];
}

/** A flow is stored in one transaction. */
const MAX_FLOW_JOBS = 100_000;
const MAX_FLOW_EDGES = 200_000;

export function checkFlowSize(jobs: number, edges: number): void {
  if (jobs > MAX_FLOW_JOBS) throw new FlowTooLargeError('jobs', jobs, MAX_FLOW_JOBS);
  if (edges > MAX_FLOW_EDGES) throw new FlowTooLargeError('dependencies', edges, MAX_FLOW_EDGES);
}
