import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import type { BackoffOptions } from './backoff.js';
import { InvalidOptionsError } from './errors.js';
import { expected, isOptions, isWhole, unknownKeys } from './expectation.js';
import { keyOf, keyOverrides, keyProblems, type JobKey, type KeyOptions } from './job-key.js';
import { DEFAULT_JOB_NAME, nameProblem } from './job-names.js';
import { asRetry, retryProblems, type RetryOptions } from './retry-options.js';

/** How often and when one job is tried again. A function cannot stand here: the job is kept as text. */
export interface JobRetryOptions {
  /** Runs in all, 1 to 1,000,000. */
  attempts?: number;
  backoff?: Duration | BackoffOptions;
}

/** How one job differs from its queue's defaults. */
export interface EnqueueOptions extends KeyOptions {
  /** Which @JobHandler of the queue is meant. Default `default`. */
  name?: string;
  /** Not before this long from now, by the database's clock. */
  delay?: Duration;
  /** Not before this time. Not together with `delay`. */
  runAt?: Date;
  /** Smaller runs first, -32768 to 32767. Default 0. */
  priority?: number;
  /** As the queue's `retry`, without its functions: a number of attempts, or `{ attempts, backoff }`. Default: the queue's. */
  retry?: number | JobRetryOptions;
  /** Per attempt. Default: the queue's. */
  timeout?: Duration;
  /** Small texts that travel with the job, for tracing and the like. */
  headers?: Record<string, string>;
}

/** What a job overrides, as it is kept in its row. */
export interface JobOverrides {
  backoff?: Duration | BackoffOptions;
  timeoutMs?: number;
  /** Somebody waits for the answer, and nobody else shall see it. */
  reply?: true;
  key?: string;
  /** A number: milliseconds. */
  keyUntil?: 'started' | 'finished' | number;
}

export interface ResolvedEnqueueOptions {
  readonly name: string;
  readonly delayMs: number | null;
  readonly runAtMs: number | null;
  readonly priority: number;
  readonly attempts: number | null;
  readonly overrides: JobOverrides | null;
  readonly headers: Record<string, string> | null;
  readonly key: JobKey | undefined;
}

const KNOWN = [
  ...['name', 'delay', 'runAt', 'priority', 'retry', 'timeout', 'headers'],
  ...['key', 'onConflict', 'keyUntil'],
];

const PLAIN: ResolvedEnqueueOptions = {
  ...{ name: DEFAULT_JOB_NAME, delayMs: null, runAtMs: null, priority: 0 },
  ...{ attempts: null, overrides: null, headers: null, key: undefined },
};

/** Checks the options of one job; all problems in one InvalidOptionsError. `also`: keys the caller takes care of. */
export function resolveEnqueueOptions(
  queue: string,
  given?: EnqueueOptions,
  also: readonly string[] = [],
  where = `Cannot enqueue into "${queue}"`,
): ResolvedEnqueueOptions {
  if (given === undefined) return PLAIN;
  if (!isOptions(given)) throw new InvalidOptionsError(where, [expected(false, 'options to be an object', given)!]);
  const { name = DEFAULT_JOB_NAME, delay, runAt, priority = 0, retry, timeout, headers } = given;
  InvalidOptionsError.throwIfAny(where, [
    ...unknownKeys(given, [...KNOWN, ...also]),
    nameProblem('job name', name),
    expected(delay === undefined || toMs(delay) !== undefined, `delay to be ${DURATION_EXPECTED}`, delay),
    expected(runAt === undefined || isDate(runAt), 'runAt to be a Date between 1970 and 9999', runAt),
    delay !== undefined && runAt !== undefined ? 'expected either delay or runAt, got both' : undefined,
    expected(isWhole(priority, -32_768, 32_767), 'priority to be a whole number from -32768 to 32767', priority),
    ...jobRetryProblems(retry),
    expected(timeout === undefined || (toMs(timeout) ?? 0) > 0, `timeout to be ${DURATION_EXPECTED} above 0`, timeout),
    ...headerProblems(headers),
    ...keyProblems(given),
  ]);
  const key = keyOf(given);
  const { attempts, backoff } = asRetry(retry) as JobRetryOptions;
  const overrides: JobOverrides = {
    ...(backoff === undefined ? {} : { backoff }),
    ...(timeout === undefined ? {} : { timeoutMs: toMs(timeout)! }),
    ...(key && keyOverrides(key)),
  };
  return {
    name,
    delayMs: delay === undefined ? null : toMs(delay) || null,
    runAtMs: runAt?.getTime() ?? null,
    priority,
    attempts: attempts ?? null,
    overrides: Object.keys(overrides).length > 0 ? overrides : null,
    headers: headers && Object.keys(headers).length > 0 ? headers : null,
    key,
  };
}

function jobRetryProblems(retry: unknown): (string | undefined)[] {
  if (!isOptions(retry)) return retryProblems(retry);
  const { retryIf, backoff } = retry as RetryOptions;
  const functions = [
    retryIf === undefined ? undefined : 'retryIf',
    typeof backoff === 'function' ? 'a backoff function' : undefined,
  ].filter((each) => each !== undefined);
  if (functions.length === 0) return retryProblems(retry);
  return functions.map(
    (each) => `expected retry without ${each}, got one: a function can only stand in the options of the queue`,
  );
}

export function isDate(value: unknown): boolean {
  return value instanceof Date && value.getTime() >= 0 && value.getUTCFullYear() <= 9999;
}

function headerProblems(headers: unknown): (string | undefined)[] {
  if (headers === undefined) return [];
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    return [expected(false, 'headers to be an object of texts', headers)];
  }
  return Object.entries(headers).flatMap(([name, value]) => [
    nameProblem('header name', name),
    expected(typeof value === 'string', `header "${name.slice(0, 100)}" to be a text`, value),
  ]);
}
