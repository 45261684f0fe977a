import type { FinalState } from '../job-state.js';
import { SqlQueueError } from './sql-queue-error.js';

/** No job has the id: it never existed, it was removed, its retention is over, or it belongs to another instance. */
export class JobNotFoundError extends SqlQueueError {
  readonly code = 'JOB_NOT_FOUND';

  constructor(readonly jobId: number) {
    super(
      `There is no job ${jobId}: it never existed, it was removed, or its retention is over. A job that was enqueued in a ` +
        `transaction exists when that has committed. A job of another instance of SqlQueueModule is found there only.`,
    );
  }
}

/** The job is completed, dead or cancelled, and the call needs an unfinished job. */
export class JobFinishedError extends SqlQueueError {
  readonly code = 'JOB_FINISHED';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    readonly state: FinalState,
  ) {
    super(
      `Job ${jobId} of queue "${queue}" is ${state}, expected one that is not finished. A dead or cancelled job starts anew ` +
        `with QueueAdmin.retry(${jobId}).`,
    );
  }
}

/** The claim holder of a job: a worker, an owner, the bearer of its token, or none. */
export type ClaimedBy = 'none' | 'worker' | 'owner' | 'token';

/** The caller does not hold the job. Nothing was changed. */
export class JobNotAssignedError extends SqlQueueError {
  readonly code = 'JOB_NOT_ASSIGNED';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    readonly claimedBy: ClaimedBy,
    /** The owner of the job; null if it has none. */
    readonly owner: string | null = null,
  ) {
    super(`Job ${jobId} of queue "${queue}" is not the caller's: ${NOT_ASSIGNED_REASONS[claimedBy](owner)}`);
  }
}

const NOT_ASSIGNED_REASONS: Readonly<Record<ClaimedBy, (owner: string | null) => string>> = {
  none: () => 'it has no claim, or its lease has expired. Claim it, or assign() it, first.',
  worker: () => `a worker runs it. Wait until it has ended, or cancel it with QueueAdmin.cancel().`,
  owner: (owner) => `owner "${owner}" holds it. That owner can release() it; assign() and unassign() take it away.`,
  token: () => 'its claim has another token. assign() and unassign() take it away.',
};

/** A row has an id above 2^53 that a JavaScript number cannot hold exactly. Another program has inserted it. */
export class UnsafeJobIdError extends SqlQueueError {
  readonly code = 'UNSAFE_JOB_ID';

  constructor(id: unknown) {
    super(
      `Expected job ids up to ${Number.MAX_SAFE_INTEGER}, got ${String(id)}: another program has inserted a job with an id ` +
        `of its own. When a worker has removed that job, run ALTER TABLE … AUTO_INCREMENT = 1 on the jobs table. The ` +
        `server then continues after the highest remaining id.`,
    );
  }
}
