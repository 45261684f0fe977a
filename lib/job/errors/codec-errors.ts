import { SqlQueueError } from './sql-queue-error.js';

/**
 * Stored content cannot be decoded: its key is unknown to this process, it was changed, or it has no envelope although the
 * codec requires one. The job is dead, and its payload stays as it is. Once the codec is right, `QueueAdmin.retry` starts it
 * anew.
 */
export class UndecodableContentError extends SqlQueueError {
  readonly code = 'UNDECODABLE_CONTENT';

  constructor(
    /** The content: `payload`, `result`, `error` … */
    readonly what: string,
    /** The key in the envelope; null without an envelope. */
    readonly key: string | null,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`Cannot decode the ${what} of a job: ${problem}`, options);
  }
}

/** The codec could not encode the content. Nothing was stored. */
export class UnencodableContentError extends SqlQueueError {
  readonly code = 'UNENCODABLE_CONTENT';

  constructor(
    /** The content: `payload`, `result`, `error` … */
    readonly what: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`Cannot encode the ${what} of a job: ${problem}`, options);
  }
}

/**
 * A service that a codec needs, for example a key service or a blob store, does not answer at present. `enqueue` rejects. A
 * job that a worker has claimed returns to its queue without an attempt, and runs after `retryInMs`.
 */
export class ContentUnavailableError extends SqlQueueError {
  readonly code = 'CONTENT_UNAVAILABLE';

  constructor(
    message: string,
    /** The time until a worker tries again, in milliseconds. Default 10,000. */
    readonly retryInMs: number = 10_000,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
