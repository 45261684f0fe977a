import { SqlQueueError } from './sql-queue-error.js';

/** Jobs of a flow wait for each other. Nothing was stored. */
export class FlowCycleError extends SqlQueueError {
  readonly code = 'FLOW_CYCLE';

  /** @param jobs the queues of the jobs of the cycle, with their positions in the flow */
  constructor(readonly jobs: readonly string[]) {
    super(`Cannot store the flow: expected no job to wait for itself, got ${jobs.join(' → ')}. Remove one \`after\`.`);
  }
}

/** A flow has more jobs or dependencies than one transaction stores. Nothing was stored. */
export class FlowTooLargeError extends SqlQueueError {
  readonly code = 'FLOW_TOO_LARGE';

  constructor(
    readonly what: 'jobs' | 'dependencies',
    readonly count: number,
    readonly limit: number,
  ) {
    super(
      `Cannot store the flow: expected at most ${limit} ${what}, got ${count}. ` +
        (what === 'jobs'
          ? 'Give each job more work, or let the jobs of a smaller flow enqueue flows of their own.'
          : 'If many jobs wait for the same jobs, let them wait for one job that waits for those.'),
    );
  }
}

/** A job was cancelled, because a job of its flow that it needs has failed. */
export class PrerequisiteFailedError extends SqlQueueError {
  readonly code = 'PREREQUISITE_FAILED';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    readonly failedJobId: number,
  ) {
    super(
      `Job ${jobId} of queue "${queue}" was cancelled, because job ${failedJobId} ended dead or cancelled, and it needs ` +
        `that job. QueueAdmin.retryFlow() retries both.`,
    );
  }
}
