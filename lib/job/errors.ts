import type { FinalState } from './job-state.js';
import type { StoredError } from './stored-error.js';

/**
 * The errors users can catch. Each has a stable `code`; compare that rather than the class where two copies of the
 * package (ESM and CommonJS) may be loaded.
 */
export abstract class SqlQueueError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Options that were refused, all problems at once. Thrown at boot, or by `enqueue` before any SQL. */
export class InvalidOptionsError extends SqlQueueError {
  readonly code = 'INVALID_OPTIONS';

  constructor(
    where: string,
    readonly problems: readonly string[],
  ) {
    super(`${where}: ${problems.length === 1 ? problems[0] : problems.map((line) => `\n  - ${line}`).join('')}`);
  }

  /** Throws where at least one of the lines is a problem; undefined lines are fine. */
  static throwIfAny(where: string, lines: readonly (string | undefined)[]): void {
    const problems = lines.filter((line): line is string => line !== undefined);
    if (problems.length > 0) throw new InvalidOptionsError(where, problems);
  }
}

/** The payload cannot be stored, or the queue's schema refused it. */
export class PayloadInvalidError extends SqlQueueError {
  readonly code = 'PAYLOAD_INVALID';

  constructor(
    /** The topic where nobody knows yet for which queues it is. */
    readonly queue: string,
    problem: string,
    { of = 'queue', ...options }: ErrorOptions & { of?: 'queue' | 'topic' } = {},
  ) {
    super(`Payload for ${of} "${queue}": ${problem}`, options);
  }
}

/** The encoded payload, result or headers have more bytes than allowed. */
export class PayloadTooLargeError extends SqlQueueError {
  readonly code = 'PAYLOAD_TOO_LARGE';

  constructor(
    readonly queue: string,
    what: 'payload' | 'result' | 'progress' | 'headers',
    readonly bytes: number,
    readonly limit: number,
  ) {
    super(
      `The ${what} of a job for queue "${queue}" has ${bytes} bytes, expected at most ${limit}. ` +
        `Store the data elsewhere and put a reference into the ${what}, or raise the option \`maxPayloadBytes\`.`,
    );
  }
}

/** So many jobs wait in the queue that it takes no more: its option `maxWaiting`. Nothing was put in. */
export class QueueFullError extends SqlQueueError {
  readonly code = 'QUEUE_FULL';

  constructor(
    readonly queue: string,
    /** Jobs that were seen to wait; no more than `maxWaiting` are counted. */
    readonly waiting: number,
    readonly maxWaiting: number,
  ) {
    super(
      `Queue "${queue}" is full: ${waiting} jobs wait, expected at most ${maxWaiting} with the new ones. Put them in later, ` +
        `start more workers, or raise the option \`maxWaiting\`.`,
    );
  }
}

/**
 * Another job holds the key: `onConflict: 'reject'`, or `'replace'` where that job has begun or is finished. Nothing was put in, of
 * the whole `enqueueMany` neither.
 */
export class DuplicateKeyError extends SqlQueueError {
  readonly code = 'DUPLICATE_KEY';

  constructor(
    readonly queue: string,
    readonly key: string,
    /** The job that holds the key; null where it is another one of the same `enqueueMany`. */
    readonly jobId: number | null,
    /** Where that job stands. */
    readonly holder: 'waiting' | 'active' | 'finished',
  ) {
    const job = jobId === null ? 'Another job of the same call' : `Job ${jobId}`;
    super(`${job} of queue "${queue}" has the key ${JSON.stringify(key)} and ${KEY_HELD[holder]}`);
  }
}

const KEY_HELD = {
  waiting: `waits. Put yours in when it is done, or take that one: onConflict: 'return', 'coalesce' or 'replace'.`,
  active:
    `runs already, so it cannot be replaced. Put yours in when it is done, or set keyUntil: 'started', with which the key is ` +
    `free as soon as its job begins.`,
  finished: `is done, but keeps the key for the time it was given. Put yours in later, or set a shorter keyUntil.`,
};

/** A queue nobody knows was named where a known one is needed. */
export class UnknownQueueError extends SqlQueueError {
  readonly code = 'UNKNOWN_QUEUE';

  constructor(
    readonly queue: string,
    known: readonly string[],
  ) {
    super(
      `No handler for queue "${queue}" in this process (known: ${known.join(', ') || 'none'}). ` +
        `Decorate a provider's method with @QueueProcessor('${queue}').`,
    );
  }
}

/** The lease of a claimed job is gone: another worker may own the job, and this run's outcome does not count. */
export class LeaseLostError extends SqlQueueError {
  readonly code = 'LEASE_LOST';

  constructor(
    readonly jobId: number,
    readonly queue: string,
  ) {
    super(
      `The lease of job ${jobId} of queue "${queue}" is lost: it lapsed or the job was taken away, and this run can no ` +
        `longer complete or fail it. If this happens often, raise the queue's \`lease\` or keep the event loop free.`,
    );
  }
}

/**
 * The transaction of `job.transaction()` ended before its work did, so the job was not completed and this run has failed. Only the
 * writes that a rollback undid are undone: a COMMIT or DDL has kept the earlier ones, and each later one was kept by itself.
 */
export class TransactionLostError extends SqlQueueError {
  readonly code = 'TRANSACTION_LOST';

  constructor(
    readonly jobId: number,
    readonly queue: string,
  ) {
    super(
      `Job ${jobId} of queue "${queue}" was not completed: expected the transaction of job.transaction() to be open until its ` +
        `work is done, got one that had ended. A ROLLBACK, a COMMIT, DDL (which commits), a transaction begun in it and left ` +
        `open, or a deadlock whose error was caught ends it. What a COMMIT or DDL has kept cannot be undone, nor what was ` +
        `written after the end. Let errors of the database reach job.transaction(), and run DDL elsewhere.`,
    );
  }
}

/** No job has the id: it never was, its retention is over, or it is another instance's. */
export class JobNotFoundError extends SqlQueueError {
  readonly code = 'JOB_NOT_FOUND';

  constructor(readonly jobId: number) {
    super(
      `There is no job ${jobId}: it never was, it was removed, or its retention is over. A job that was enqueued in a ` +
        `transaction is there when that has committed; if it is one of another instance of SqlQueueModule, ask that.`,
    );
  }
}

/** The job is completed, dead or cancelled: nothing can be done to it any more. */
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

/** Who has a job: a worker, an owner, whoever has its token, or nobody. */
export type HeldBy = 'nobody' | 'worker' | 'owner' | 'token';

/** The job is not the caller's to act upon: somebody else has it, or nobody. Nothing was done. */
export class JobNotHeldError extends SqlQueueError {
  readonly code = 'JOB_NOT_HELD';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    readonly heldBy: HeldBy,
    /** Whom it is assigned to; null where that is nobody. */
    readonly owner: string | null = null,
  ) {
    super(`Job ${jobId} of queue "${queue}" is not the caller's: ${WHOSE[heldBy](owner)}`);
  }
}

const WHOSE: Readonly<Record<HeldBy, (owner: string | null) => string>> = {
  nobody: () => 'nobody holds it, or its lease has lapsed. Claim it, or assign() it, first.',
  worker: () => `a worker runs it. Wait until that is over, or cancel it with QueueAdmin.cancel().`,
  owner: (owner) => `"${owner}" holds it. That owner can release() it; assign() and unassign() take it away.`,
  token: () => 'it belongs to whoever has its token, and this is another one. assign() and unassign() take it away.',
};

/** An attempt ran longer than its queue's `timeout`. */
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

/** Somebody cancelled the job while it ran. */
export class JobCancelledError extends SqlQueueError {
  readonly code = 'JOB_CANCELLED';

  constructor(
    readonly jobId: number,
    readonly queue: string,
  ) {
    super(`Job ${jobId} of queue "${queue}" was cancelled.`);
  }
}

/** This process is shutting down and its deadline has passed; the job goes back to waiting, unharmed. */
export class ShutdownError extends SqlQueueError {
  readonly code = 'SHUTDOWN';

  constructor() {
    super('The worker is shutting down; the job was released and will run again elsewhere.');
  }
}

/** Throw it in a handler to say that trying again is pointless: the job is dead at once. */
export class UnrecoverableError extends SqlQueueError {
  readonly code = 'UNRECOVERABLE';
}

/**
 * Another program has written a column of the job's row that cannot be understood. The job did not run; it is dead with this
 * error.
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
      `The row of job ${jobId} of queue "${queue}" cannot be understood: column ${column}: ${problem}. Correct the program that ` +
        `wrote it, and the row, then start the job anew with QueueAdmin.retry(${jobId}).`,
    );
  }
}

/**
 * A row has an id that a number cannot hold exactly, so no statement of this library can name it. Another program has
 * inserted a job with such an id.
 */
export class UnnameableIdError extends SqlQueueError {
  readonly code = 'UNNAMEABLE_ID';

  constructor(id: unknown) {
    super(
      `Expected job ids up to ${Number.MAX_SAFE_INTEGER}, got ${String(id)}: another program has inserted a job with an id of its ` +
        `own. When a worker has removed that job, run ALTER TABLE … AUTO_INCREMENT = 1 on the jobs table: the server goes ` +
        `on behind the highest id that is left.`,
    );
  }
}

/** The worker that ran the job died or fell silent. Stored as the job's error by whoever rescued it. */
export class WorkerLostError extends SqlQueueError {
  readonly code = 'WORKER_LOST';

  constructor(readonly workerId: string) {
    super(`Worker ${workerId} died or fell silent while it may have been running the job.`);
  }
}

/** Whoever held the job let the lease end. Stored as the job's error by whoever took it back. */
export class LeaseEndedError extends SqlQueueError {
  readonly code = 'LEASE_ENDED';

  /** @param owner empty where it was whoever had the token */
  constructor(readonly owner: string) {
    super(`The lease of ${owner === '' ? 'whoever had its token' : `owner "${owner}"`} ended before the job did.`);
  }
}

/** A job that was waited for is dead. */
export class JobFailedError extends SqlQueueError {
  readonly code = 'JOB_FAILED';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    /** How its last run ended, as it is kept with the job. */
    readonly error: StoredError | null,
  ) {
    super(
      `Job ${jobId} of queue "${queue}" is dead: ${error ? `${error.name}: ${error.message}` : 'nobody knows why'}`,
      {
        cause: error ?? undefined,
      },
    );
  }
}

/** A job that was waited for has not ended in time. It goes on, unless it was a request. */
export class WaitTimeoutError extends SqlQueueError {
  readonly code = 'WAIT_TIMEOUT';

  constructor(
    readonly jobId: number,
    readonly timeoutMs: number,
  ) {
    super(`Job ${jobId} has not ended within ${timeoutMs} ms.`);
  }
}

/** Nobody can tell how the job ended, since its queue keeps no history. */
export class ResultNotKeptError extends SqlQueueError {
  readonly code = 'RESULT_NOT_KEPT';

  constructor(
    readonly jobId: number,
    readonly queue: string,
  ) {
    super(
      `Nothing is kept of job ${jobId} of queue "${queue}" once it has ended, so its result cannot be waited for. Give the ` +
        `queue a history (\`retention: { completed: '1h' }\`), or use producer.request().`,
    );
  }
}

/**
 * The job is completed, but there is no result to wait for: JSON cannot carry what its handler returned, it is too large, or the
 * database refused it.
 */
export class ResultInvalidError extends SqlQueueError {
  readonly code = 'RESULT_INVALID';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    /** Why the result was not kept; in the history it is the job's error. */
    readonly problem: string,
  ) {
    super(`Job ${jobId} of queue "${queue}" is completed, but its result was not kept: ${problem}`);
  }
}

/** The library's tables are missing, or of another version than this release needs. */
export class SchemaOutOfDateError extends SqlQueueError {
  readonly code = 'SCHEMA_OUT_OF_DATE';
}

/** The database is one this library cannot work on: too old, or a setting is in the way. */
export class UnsupportedDatabaseError extends SqlQueueError {
  readonly code = 'UNSUPPORTED_DATABASE';
}

/** The database account lacks a privilege that the statement takes. Nothing was done. */
export class MissingPrivilegeError extends SqlQueueError {
  readonly code = 'MISSING_PRIVILEGE';

  /** @param denied the message of the database, which names the account and the table */
  constructor(denied: string, options?: ErrorOptions) {
    super(
      `The database account may not do this: ${denied}. Grant it the privileges that docs/guides/security.md lists for its role. If ` +
        `another account makes and updates the tables, set \`schema: { migrate: 'check' }\`.`,
      options,
    );
  }
}

/**
 * The database could not be reached or went away in the middle. With `outcome: 'unknown'` a commit was under way: the
 * work may or may not have been done.
 */
export class StoreUnavailableError extends SqlQueueError {
  readonly code = 'STORE_UNAVAILABLE';

  constructor(
    message: string,
    readonly outcome: 'not-done' | 'unknown',
    options?: ErrorOptions,
    /** The database is there, but another transaction has kept rows locked for seconds. */
    readonly locked = false,
  ) {
    super(message, options);
  }
}

/** Whether an error carries the code, whichever copy of the package made it. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && (error as { code?: unknown }).code === code;
}
