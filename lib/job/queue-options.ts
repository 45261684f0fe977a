import { CLAIM_STRATEGIES, type ClaimStrategy } from './claim-strategy.js';
import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { expected, isWhole, unknownKeys } from './expectation.js';
import { nameProblem } from './job-names.js';
import {
  resolveRetention,
  retentionProblems,
  type ResolvedRetention,
  type RetentionOptions,
} from './retention-options.js';
import { asRetry, resolveRetry, retryProblems, type RetryOptions, type RetryPolicy } from './retry-options.js';
import type { QueueName } from './queue-jobs.js';
import type { StandardSchemaV1 } from './standard-schema.js';

/** How one queue is worked. Every option has a default; unset (also `undefined`) means the default. */
export interface QueueOptions {
  /** Jobs (or batches) running at once in this process, 1 to 10,000. Default 10. */
  concurrency?: number;
  /** Attempts in all, or more exactly. Default 5 attempts, exponential backoff from 1s to 10m with a jitter of 0.2. */
  retry?: number | RetryOptions;
  /** How long a silent worker keeps its jobs; renewed while the handler runs. 1s to 1d, default 30s. */
  lease?: Duration;
  /** An attempt that runs longer has its signal aborted and fails. Default false: no limit. */
  timeout?: Duration | false;
  /** Within one priority: oldest or youngest first. Default `fifo`. */
  order?: 'fifo' | 'lifo';
  /** How jobs are claimed: see docs/guides/claim-strategies.md. Default `auto`: the best that this database has. */
  claim?: ClaimStrategy | 'auto';
  /** Jobs claimed ahead of free slots, 0 to 1,000; `auto` (the default) claims ahead where jobs are short. */
  prefetch?: number | 'auto';
  retention?: RetentionOptions;
  /**
   * The queue into which a copy of each job goes that dies here, in the transaction in which it dies. Its headers
   * `dead-letter.queue`, `.id`, `.attempts` and `.error` say where it comes from. Dead letters go no further when they die.
   * Not the queue itself, nor one that has a dead-letter queue of its own. Default false: dead jobs are in the history only.
   */
  deadLetter?: QueueName | false;
  /** Checks payloads at `enqueue`, and again before the handler, which receives what it makes of them (zod, valibot …). */
  schema?: StandardSchemaV1;
  /** This process starts with the queue paused, until `SqlQueueRunner.resume(queue)`. Default false. */
  paused?: boolean;
  /** The largest encoded payload or result in bytes, 1 to 16,000,000. Default 1 MiB. */
  maxPayloadBytes?: number;
  /**
   * `enqueue` rejects with QueueFullError while more jobs than this wait, 1 to 10,000,000; false (default): however many.
   * Counted once a second at most and beside the insertion, so that producers in several processes may put in a few more, and
   * so may calls with keys that come at once: theirs count when it is known how many were new.
   * Scheduled jobs do not count until they are due.
   */
  maxWaiting?: number | false;
  /**
   * A temporary queue: it goes, with its subscriptions, when it has been empty and no process has worked it for so long, 1s
   * to 365d. False (default): it stays.
   */
  expiresAfter?: Duration | false;
  /**
   * Logs each run that fails as a warning and each job that dies as an error, with the error's name and message, but never
   * with the payload; also results that could not be kept. Default true.
   */
  logFailures?: boolean;
  /**
   * Records what becomes of the queue's jobs, in the transactions in which it does, for listeners in other processes:
   * `@OnQueueEvent('completed', { from: 'anywhere' })`. A row for each change, kept for ten minutes. Say it in every process
   * that puts jobs in, works the queue or steers it: what is done by one that does not know is not told. Default false.
   */
  events?: boolean;
}

/** Checked, with every default in place, durations in milliseconds. */
export interface ResolvedQueueOptions {
  readonly concurrency: number;
  readonly retry: RetryPolicy;
  readonly leaseMs: number;
  readonly timeoutMs: number | false;
  readonly order: 'fifo' | 'lifo';
  readonly claim: ClaimStrategy | 'auto';
  readonly prefetch: number | 'auto';
  readonly retention: ResolvedRetention;
  readonly deadLetter: string | false;
  readonly schema: StandardSchemaV1 | undefined;
  readonly paused: boolean;
  readonly maxPayloadBytes: number;
  readonly maxWaiting: number | false;
  readonly expiresAfterMs: number | false;
  readonly events: boolean;
  readonly logFailures: boolean;
}

const KNOWN: readonly (keyof QueueOptions)[] = [
  'concurrency',
  'retry',
  'lease',
  'timeout',
  'order',
  'claim',
  'prefetch',
  'retention',
  'deadLetter',
  'schema',
  'paused',
  'maxPayloadBytes',
  'maxWaiting',
  'expiresAfter',
  'events',
  'logFailures',
];

// What only the handler can know: what it is given. See ProcessorOptions.
const OF_PROCESSOR: readonly string[] = ['batch', 'topic', 'where'];

// Every process that prunes must know the archives, whether it handles their queues or not.
const OF_MODULE: readonly string[] = ['archive'];

/** Lays one set of options over another; what is undefined leaves the lower one standing, `retry` and `retention` merge. */
export function overlay(lower: QueueOptions, upper: QueueOptions): QueueOptions {
  return {
    ...lower,
    ...defined(upper),
    retry: { ...defined(asRetry(lower.retry)), ...defined(asRetry(upper.retry)) },
    retention: { ...lower.retention, ...defined(upper.retention) },
  };
}

/** What is wrong with one layer of queue options, one line a problem. `queue`: which one they are for, if for one. */
export function queueOptionProblems(options: unknown, queue?: string): string[] {
  if (typeof options !== 'object' || options === null) return [expected(false, 'queue options', options)!];
  const given = options as QueueOptions;
  const { concurrency = 1, lease = '30s', timeout = false, order = 'fifo', claim = 'auto', prefetch = 'auto' } = given;
  const { paused = false, maxPayloadBytes = 1, maxWaiting = false, schema, retention, retry } = given;
  const { expiresAfter = false, deadLetter = false, events = false, logFailures = true } = given;
  const leaseMs = toMs(lease);
  return [
    ...OF_PROCESSOR.filter((key) => key in given).map(
      (key) => `${key} belongs into the options of @QueueProcessor(), next to the handler`,
    ),
    ...OF_MODULE.filter((key) => key in given).map(
      (key) => `${key} belongs into the options of the module, as \`${key}\` or \`queues: { name: { ${key} } }\``,
    ),
    ...unknownKeys(given, [...KNOWN, ...OF_PROCESSOR, ...OF_MODULE]),
    expected(isWhole(concurrency, 1, 10_000), 'concurrency to be a whole number from 1 to 10000', concurrency),
    ...retryProblems(retry),
    expected(
      leaseMs !== undefined && leaseMs >= 1_000 && leaseMs <= 86_400_000,
      `lease to be a duration from '1s' to '1d'`,
      lease,
    ),
    expected(
      timeout === false || (toMs(timeout) ?? 0) > 0,
      `timeout to be false or ${DURATION_EXPECTED} above 0`,
      timeout,
    ),
    expected(order === 'fifo' || order === 'lifo', `order to be 'fifo' or 'lifo'`, order),
    expected(
      claim === 'auto' || CLAIM_STRATEGIES.includes(claim),
      `claim to be 'auto' or one of ${CLAIM_STRATEGIES.map((strategy) => `'${strategy}'`).join(', ')}`,
      claim,
    ),
    expected(
      prefetch === 'auto' || isWhole(prefetch, 0, 1_000),
      `prefetch to be 'auto' or a whole number from 0 to 1000`,
      prefetch,
    ),
    ...retentionProblems(retention),
    deadLetter === false ? undefined : nameProblem('deadLetter', deadLetter),
    expected(deadLetter !== queue, 'deadLetter to be another queue', deadLetter),
    expected(
      schema === undefined || typeof schema?.['~standard']?.validate === 'function',
      'schema to follow the Standard Schema specification (zod, valibot, arktype …)',
      schema,
    ),
    expected(typeof paused === 'boolean', 'paused to be true or false', paused),
    expected(
      isWhole(maxPayloadBytes, 1, 16_000_000),
      'maxPayloadBytes to be a whole number from 1 to 16000000',
      maxPayloadBytes,
    ),
    expected(
      maxWaiting === false || isWhole(maxWaiting, 1, 10_000_000),
      'maxWaiting to be false or a whole number from 1 to 10000000',
      maxWaiting,
    ),
    expected(
      expiresAfter === false || isWhole(toMs(expiresAfter), 1_000, 365 * 86_400_000),
      `expiresAfter to be false or a duration from '1s' to '365d'`,
      expiresAfter,
    ),
    expected(typeof events === 'boolean', 'events to be true or false', events),
    expected(typeof logFailures === 'boolean', 'logFailures to be true or false', logFailures),
  ].filter((line): line is string => line !== undefined);
}

/** Fills in the defaults. The options have been checked. */
export function resolveQueueOptions(given: QueueOptions = {}): ResolvedQueueOptions {
  const { concurrency = 10, lease = '30s', timeout = false, order = 'fifo', prefetch = 'auto' } = given;
  const { claim = 'auto', paused = false, maxPayloadBytes = 1_048_576, maxWaiting = false, schema } = given;
  const { expiresAfter = false, deadLetter = false, events = false, logFailures = true } = given;
  return {
    concurrency,
    retry: resolveRetry(asRetry(given.retry)),
    leaseMs: toMs(lease)!,
    timeoutMs: timeout === false ? false : toMs(timeout)!,
    order,
    claim,
    prefetch,
    retention: resolveRetention(given.retention),
    deadLetter,
    schema,
    paused,
    maxPayloadBytes,
    maxWaiting,
    expiresAfterMs: expiresAfter === false ? false : toMs(expiresAfter)!,
    events,
    logFailures,
  };
}

function defined<T extends object>(options: T | undefined): T {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined)) as T;
}
