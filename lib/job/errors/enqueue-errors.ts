import { SqlQueueError } from './sql-queue-error.js';

/** Invalid options or arguments, with all problems at once. Thrown at boot or by the call, before any SQL. */
export class InvalidOptionsError extends SqlQueueError {
  readonly code = 'INVALID_OPTIONS';

  constructor(
    where: string,
    /** One line per problem: `expected …, got …` or `unknown option …`. */
    readonly problems: readonly string[],
  ) {
    super(`${where}: ${problems.length === 1 ? problems[0] : problems.map((line) => `\n  - ${line}`).join('')}`);
  }

  /** Throws if at least one line is a problem; undefined lines are fine. */
  static throwIfAny(where: string, lines: readonly (string | undefined)[]): void {
    const problems = lines.filter((line): line is string => line !== undefined);
    if (problems.length > 0) throw new InvalidOptionsError(where, problems);
  }
}

/** JSON cannot carry the payload without loss, or the `schema` of the queue rejected it. */
export class PayloadInvalidError extends SqlQueueError {
  readonly code = 'PAYLOAD_INVALID';

  constructor(
    /** The queue, or the topic of a message whose subscribers are not known yet. */
    readonly queue: string,
    problem: string,
    { of = 'queue', ...options }: ErrorOptions & { of?: 'queue' | 'topic' } = {},
  ) {
    super(`Payload for ${of} "${queue}": ${problem}`, options);
  }
}

/** The encoded payload, result, progress or headers exceed their limit in bytes. */
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
        `Store the data elsewhere and put a reference into the ${what}` +
        (what === 'headers' ? '.' : ', or raise the option `maxPayloadBytes`.'),
    );
  }
}

/** The queue has reached its `maxWaiting`. No job of the call was stored. */
export class QueueFullError extends SqlQueueError {
  readonly code = 'QUEUE_FULL';

  constructor(
    readonly queue: string,
    /** Waiting jobs at the last count, which stops at `maxWaiting`. */
    readonly waiting: number,
    readonly maxWaiting: number,
  ) {
    super(
      `Queue "${queue}" is full: ${waiting} jobs wait, expected at most ${maxWaiting} with the new ones. Enqueue them ` +
        `later, start more workers, or raise the option \`maxWaiting\`.`,
    );
  }
}

/**
 * Another job owns the key, and `onConflict` is `reject`, or `replace` although that job has started or is finished. No
 * job of the call was stored, not even the other jobs of an `enqueueMany`.
 */
export class DuplicateKeyError extends SqlQueueError {
  readonly code = 'DUPLICATE_KEY';

  constructor(
    readonly queue: string,
    readonly key: string,
    /** The job that owns the key; null if it is another job of the same `enqueueMany`. */
    readonly jobId: number | null,
    readonly jobState: 'waiting' | 'active' | 'finished',
  ) {
    const job = jobId === null ? 'Another job of the same call' : `Job ${jobId}`;
    super(`${job} of queue "${queue}" has the key ${JSON.stringify(key)} and ${KEY_CONFLICT_ADVICE[jobState]}`);
  }
}

const KEY_CONFLICT_ADVICE = {
  waiting: `waits. Enqueue yours when it has ended, or use that job: onConflict: 'return', 'coalesce' or 'replace'.`,
  active:
    `has started, so it cannot be replaced. Enqueue yours when it has ended, or set keyUntil: 'started', which frees the ` +
    `key when its job starts.`,
  finished: `has ended, but owns the key until its keyUntil is over. Enqueue yours later, or set a shorter keyUntil.`,
};

/** This process has no handler for the queue. */
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
