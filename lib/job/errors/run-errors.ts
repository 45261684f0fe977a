import { SqlQueueError } from './sql-queue-error.js';

/** The lease of a claimed job was lost. Another worker may own the job, and the outcome of this run does not count. */
export class LeaseLostError extends SqlQueueError {
  readonly code = 'LEASE_LOST';

  constructor(
    readonly jobId: number,
    readonly queue: string,
  ) {
    super(
      `The lease of job ${jobId} of queue "${queue}" is lost: it expired or the job was reassigned, so this run can no ` +
        `longer complete or fail it. If this happens often, raise the queue's \`lease\` or keep the event loop free.`,
    );
  }
}

/**
 * The transaction of `job.transaction()`, or of a `manager`, has ended although TypeORM takes it for open, or while the call
 * waited for an earlier one. The library writes nothing more. The run of a handler failed. Only the writes of a rolled back
 * transaction are undone: a COMMIT or DDL keeps the writes before it, also those of this call, and each write of the
 * application after the end was committed on its own.
 */
export class TransactionLostError extends SqlQueueError {
  readonly code = 'TRANSACTION_LOST';

  /** @param jobId the job that was to end in the transaction; undefined for other calls with a `manager` */
  constructor(
    readonly jobId?: number,
    readonly queue?: string,
  ) {
    super(
      `${jobId === undefined ? 'The call was not finished' : `Job ${jobId} of queue "${queue}" was not ended`}: expected its ` +
        `transaction to be open until its work is done, got one that had ended. A ROLLBACK, a COMMIT before the call was ` +
        `awaited, DDL (which commits), a nested transaction left open, or a deadlock whose error was caught ends it. ` +
        `Writes that a COMMIT or DDL kept, and writes after the end, cannot be undone. Let errors of the database reach ` +
        `the end of the transaction, and run DDL elsewhere.`,
    );
  }
}

/** An attempt ran longer than its `timeout`. */
export class JobTimeoutError extends SqlQueueError {
  readonly code = 'JOB_TIMEOUT';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    readonly timeoutMs: number,
  ) {
    super(`Job ${jobId} of queue "${queue}" ran longer than its timeout of ${timeoutMs} ms.`);
  }
}

/** A caller cancelled the job. It is the reason of the handler's signal, and the error of a wait for the job. */
export class JobCancelledError extends SqlQueueError {
  readonly code = 'JOB_CANCELLED';

  constructor(
    readonly jobId: number,
    readonly queue: string,
  ) {
    super(`Job ${jobId} of queue "${queue}" was cancelled.`);
  }
}

/**
 * The reason of a signal that a shutdown aborts after its deadline. The job returns to waiting; the attempt does not
 * count.
 */
export class ShutdownError extends SqlQueueError {
  readonly code = 'SHUTDOWN';

  constructor() {
    super('The worker is shutting down; the job was released and will run again elsewhere.');
  }
}

/** A handler throws this error if retries are pointless. The job is dead at once, even if attempts remain. */
export class UnrecoverableError extends SqlQueueError {
  readonly code = 'UNRECOVERABLE';
}

/** The worker of the job died or stopped renewing its lease. The rescue stores this error with the job. */
export class WorkerLostError extends SqlQueueError {
  readonly code = 'WORKER_LOST';

  constructor(readonly workerId: string) {
    super(`Worker ${workerId} died or became unresponsive while it may have been running the job.`);
  }
}

/**
 * The lease of an assigned job expired before its claim holder ended the job. The rescue stores this error with the
 * job.
 */
export class LeaseExpiredError extends SqlQueueError {
  readonly code = 'LEASE_EXPIRED';

  /** @param owner the owner, or an empty string if a token alone held the job */
  constructor(readonly owner: string) {
    super(`The lease of ${owner === '' ? 'the bearer of its token' : `owner "${owner}"`} ended before the job did.`);
  }
}

/**
 * Another program wrote an invalid value into a column of the job. The job did not run, and is dead with this error.
 */
export class MalformedJobError extends SqlQueueError {
  readonly code = 'MALFORMED_JOB';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    /** The column of the jobs table. */
    readonly column: string,
    /** `expected …, got …`. */
    problem: string,
  ) {
    super(
      `The row of job ${jobId} of queue "${queue}" is malformed: column ${column}: ${problem}. Correct the program that ` +
        `wrote it, and the row, then start the job anew with QueueAdmin.retry(${jobId}).`,
    );
  }
}

/** No worker has started the job within its `expiresIn`. It is cancelled, and this error is stored with it. */
export class JobExpiredError extends SqlQueueError {
  readonly code = 'JOB_EXPIRED';

  constructor(
    readonly jobId: number,
    readonly queue: string,
  ) {
    super(`Job ${jobId} of queue "${queue}" was cancelled: no worker has started it within its \`expiresIn\`.`);
  }
}
