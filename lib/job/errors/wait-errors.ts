import type { StoredError } from '../stored-error.js';
import { SqlQueueError } from './sql-queue-error.js';

/** The job of a wait or a request is dead. */
export class JobFailedError extends SqlQueueError {
  readonly code = 'JOB_FAILED';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    /** The stored error of the last run; null if the row has none. */
    readonly error: StoredError | null,
  ) {
    super(
      `Job ${jobId} of queue "${queue}" is dead: ${error ? `${error.name}: ${error.message}` : 'no error is stored'}`,
      {
        cause: error ?? undefined,
      },
    );
  }
}

/** The job has not ended within the `timeout` of the wait. The job continues, unless it is the job of a request. */
export class WaitTimeoutError extends SqlQueueError {
  readonly code = 'WAIT_TIMEOUT';

  constructor(
    readonly jobId: number,
    readonly timeoutMs: number,
    hint = '',
  ) {
    super(`Job ${jobId} has not ended within ${timeoutMs} ms.${hint}`);
  }
}

/** The history does not keep the job, so its outcome cannot be read. */
export class ResultNotKeptError extends SqlQueueError {
  readonly code = 'RESULT_NOT_KEPT';

  constructor(
    readonly jobId: number,
    readonly queue: string,
  ) {
    super(
      `Queue "${queue}" keeps no history of job ${jobId}, so its result cannot be waited for. Give the queue or the job ` +
        `a history (\`retention: { completed: '1h' }\`), or use producer.request().`,
    );
  }
}

/**
 * The job is completed, but its result was not stored: JSON cannot carry it, it is too large, or the database rejected
 * it.
 */
export class ResultInvalidError extends SqlQueueError {
  readonly code = 'RESULT_INVALID';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    /** The reason, which the history stores as the error of the job. */
    readonly problem: string,
  ) {
    super(`Job ${jobId} of queue "${queue}" is completed, but its result was not kept: ${problem}`);
  }
}
