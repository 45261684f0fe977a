import { toMs, type Duration } from '../common/units.js';
import type { BackoffOptions } from './backoff-options.js';
import { InvalidOptionsError } from './errors.js';
import { expected, isOptions, requireOptions } from './expectation.js';
import { GROUP_KEY_EXPECTED, isGroupKey } from './groups/group-key.js';
import { KEY_OPTIONS, keyOf, keyOverrides, missingKeyProblems, type KeyOptions } from './job-key.js';
import { DEFAULT_JOB_NAME, isName, NAME_EXPECTED, nameProblem } from './identifiers.js';
import type { JobOverrides } from './job-overrides.js';
import { LEASE } from './lease.js';
import {
  checked,
  date,
  duration,
  kind,
  option,
  optionProblems,
  positiveDuration,
  whole,
  type Option,
  type SchemaOf,
} from './option-schema.js';
import { JOB_RETENTION, type RetentionOptions } from './retention-options.js';
import { asRetry, RETRY, type RetryOptions } from './retry-options.js';

/** How often, and when, one job runs again. Functions are rejected, because a row cannot store them. */
export interface JobRetryOptions {
  /** Runs in all, the first one included, 1 to 1,000,000. Default: the queue's. */
  attempts?: number;
  /** The delay before the next attempt. Default: the queue's. */
  backoff?: Duration | BackoffOptions;
}

/** Options of one job, which override those of its queue. */
export interface EnqueueOptions extends KeyOptions {
  /** The name of the job, which selects the @JobHandler. Default `default`. */
  name?: string;
  /** The time until the job is due, measured by the clock of the database. Default: due at once. */
  delay?: Duration;
  /** The time at which the job is due, between 1970 and 9999. Excludes `delay`. Default: due at once. */
  runAt?: Date;
  /** Jobs with a smaller number run first, -32768 to 32767. Default 0. */
  priority?: number;
  /** The number of attempts, or `{ attempts, backoff }` without functions. Default: the queue's `retry`. */
  retry?: number | JobRetryOptions;
  /** The time limit of an attempt, above 0. Default: the queue's. */
  timeout?: Duration;
  /**
   * A job that no worker has started this time after it was enqueued, or last replaced, ends cancelled with the error
   * JOB_EXPIRED, when a worker reaches it. A job that an administrator retries does not expire. Above 0, and longer than
   * `delay`, or that of `jobDefaults`. A job that expires before its `runAt` never runs. Default: the job does not expire.
   */
  expiresIn?: Duration;
  /**
   * The lease of the job, if it is longer than that of the queue: 1s to 1d. Jobs of one claim share the longest lease.
   * Default: the queue's.
   */
  lease?: Duration;
  /**
   * How long the history keeps the job, however it ends; false: not at all. Or by its end, like the option of the queue.
   * Default: the queue's.
   */
  retention?: Duration | false | RetentionOptions;
  /**
   * Short texts that are stored with the job, for example trace ids. A name has 1 to 100 of the characters A-Z a-z 0-9
   * . _ : -.
   */
  headers?: Record<string, string>;
  /**
   * The group of the job in a queue with groups, for example a tenant: 1 to 100 characters, without a space at the start or
   * the end. Default: the group `default` in a queue with groups.
   */
  group?: string;
  /**
   * The person, or anything else, that the job is about: 1 to 255 characters, compared exactly, for example `user:42`.
   * `QueueAdmin.erase(subject)` erases the content of all its jobs. Dead letters, copies and fan-out children of the job have
   * the same subject. Default: none.
   */
  subject?: string;
}

export const HEADERS: Option<Record<string, string> | undefined> = {
  problems: (_name, headers) => headerProblems(headers),
  resolve: (headers) => headers as Record<string, string> | undefined,
};

export const PRIORITY = option(whole(-32_768, 32_767), 0);

/** A text that every database compares exactly. */
export const SUBJECT = kind(
  'a text of 1 to 255 characters without a space at the end',
  (value): value is string => typeof value === 'string' && /^.{0,254}\S$/su.test(value),
);

const ENQUEUE_OPTIONS = {
  name: option(kind(NAME_EXPECTED, isName), DEFAULT_JOB_NAME),
  delay: option(duration),
  runAt: option(date),
  priority: PRIORITY,
  retry: checked(jobRetryProblems),
  timeout: option(positiveDuration),
  expiresIn: option(positiveDuration),
  lease: option(LEASE),
  retention: JOB_RETENTION,
  headers: HEADERS,
  group: option(kind(GROUP_KEY_EXPECTED, isGroupKey)),
  subject: option(SUBJECT),
  ...KEY_OPTIONS,
} satisfies SchemaOf<EnqueueOptions>;

/** @param also further options in the same object, which the caller checks */
export function resolveEnqueueOptions(
  queue: string,
  given: EnqueueOptions,
  also: readonly string[] = [],
  where = `Cannot enqueue into "${queue}"`,
) {
  requireOptions(where, given);
  InvalidOptionsError.throwIfAny(where, [
    ...optionProblems(ENQUEUE_OPTIONS, given, { also }),
    given.delay !== undefined && given.runAt !== undefined ? 'expected either delay or runAt, got both' : undefined,
    expiryProblem(given),
    ...missingKeyProblems(given),
  ]);
  return resolveChecked(given);
}

/** Those of a job without options. */
export const NO_ENQUEUE_OPTIONS = resolveChecked({});

function resolveChecked(given: EnqueueOptions) {
  const { retry, headers, runAt } = given;
  const { attempts, backoff } = asRetry(retry) as JobRetryOptions;
  const key = keyOf(given);
  const overrides: JobOverrides = {
    backoff,
    timeoutMs: ENQUEUE_OPTIONS.timeout.resolve(given.timeout),
    expiresInMs: ENQUEUE_OPTIONS.expiresIn.resolve(given.expiresIn),
    leaseMs: ENQUEUE_OPTIONS.lease.resolve(given.lease),
    retention: ENQUEUE_OPTIONS.retention.resolve(given.retention),
    ...(key && keyOverrides(key)),
    ...(given.subject === undefined ? {} : { subject: given.subject }),
  };
  return {
    name: ENQUEUE_OPTIONS.name.resolve(given.name),
    delayMs: ENQUEUE_OPTIONS.delay.resolve(given.delay) || null,
    runAtMs: runAt?.getTime() ?? null,
    priority: ENQUEUE_OPTIONS.priority.resolve(given.priority),
    attempts: attempts ?? null,
    overrides: Object.values(overrides).some((value) => value !== undefined) ? overrides : null,
    headers: headers && Object.keys(headers).length > 0 ? headers : null,
    key,
    group: given.group,
    subject: given.subject,
  };
}

function expiryProblem({ delay, expiresIn }: EnqueueOptions): string | undefined {
  const isTooShort = delay !== undefined && (toMs(expiresIn) ?? Infinity) <= (toMs(delay) ?? 0);
  return expected(!isTooShort, 'expiresIn to be longer than delay', expiresIn);
}

function jobRetryProblems(retry: unknown): readonly (string | undefined)[] {
  const { retryIf, backoff } = (isOptions(retry) ? retry : {}) as RetryOptions;
  const functions = [
    retryIf === undefined ? undefined : 'retryIf',
    typeof backoff === 'function' ? 'a backoff function' : undefined,
  ].filter((each) => each !== undefined);
  if (functions.length === 0) return RETRY.problems('retry', retry);
  return functions.map(
    (each) => `expected retry without ${each}, got one: a function can only stand in the options of the queue`,
  );
}

export function headerProblems(headers: unknown): (string | undefined)[] {
  if (!isOptions(headers)) return [expected(false, 'headers to be an object of texts', headers)];
  return Object.entries(headers).flatMap(([name, value]) => [
    nameProblem('header name', name),
    expected(typeof value === 'string', `header "${name.slice(0, 100)}" to be a text`, value),
  ]);
}
