import { CLAIM_STRATEGIES, type ClaimStrategy } from './claim-strategy.js';
import { HEADERS, type EnqueueOptions } from './enqueue-options.js';
import type { Duration } from '../common/units.js';
import { expected } from './expectation.js';
import { isName, NAME_EXPECTED } from './identifiers.js';
import { GROUPS, type GroupOptions } from './groups/group-options.js';
import { LEASE } from './lease.js';
import { MAX_RUNNING, RATE, type Limits, type RateOptions } from './limits/limit-options.js';
import {
  defined,
  duration,
  durationOf,
  either,
  flag,
  func,
  group,
  kind,
  oneOf,
  option,
  optionProblems,
  positiveDuration,
  resolveOptions,
  whole,
  type SchemaOf,
} from './option-schema.js';
import { RETENTION, type RetentionOptions } from './retention-options.js';
import { asRetry, RETRY, type RetryOptions } from './retry-options.js';
import type { QueueName } from './queue-jobs.js';
import type { ContentCodec } from './codec/content-codec.js';
import type { StandardSchemaV1 } from './standard-schema.js';

/** The options of one queue. Each option has a default, which also applies if the option is `undefined`. */
export interface QueueOptions {
  /** Handler calls of this queue that run at once in this process, 1 to 10,000. Default 10. */
  concurrency?: number;
  /**
   * The number of attempts, or retry options. Default: 5 attempts, and an exponential backoff from 1s to 10m with a
   * jitter of 0.2.
   */
  retry?: number | RetryOptions;
  /**
   * The time after which the jobs of a dead worker are rescued, 1s to 1d. A worker that is alive renews the lease while
   * the handler runs. Default 30s.
   */
  lease?: Duration;
  /**
   * The time limit of an attempt, from when codecs and the blob store have read its payload. At its end the signal is
   * aborted, and the attempt fails. Default false: no limit.
   */
  timeout?: Duration | false;
  /** The order of jobs with the same priority: oldest first or newest first. Default `fifo`. */
  order?: 'fifo' | 'lifo';
  /**
   * The claim strategy: see docs/guides/claim-strategies.md. Default `auto`: the best one that the database supports.
   */
  claim?: ClaimStrategy | 'auto';
  /** Jobs to claim before a slot is free, 0 to 1,000. Default `auto`: the worker prefetches if jobs are short. */
  prefetch?: number | 'auto';
  /** How long finished jobs stay in the history. Default: 1d if completed, 30d if dead or cancelled. */
  retention?: RetentionOptions;
  /**
   * The queue that receives a copy of each job that dies here, in the same transaction. The headers
   * `dead-letter.queue`, `.id`, `.attempts` and `.error` of the copy describe the dead job. A dead letter that dies is
   * not copied again. The queue itself, and a queue with a dead-letter queue of its own, are rejected. Default false:
   * no copy.
   */
  deadLetter?: QueueName | false;
  /**
   * A Standard Schema (zod, valibot …) for payloads. `enqueue` checks against it, and stores the payload unchanged. The
   * worker checks again before the handler, which receives the output of the schema.
   */
  schema?: StandardSchemaV1;
  /** Whether this process starts with the queue paused, until `SqlQueueRunner.resume(queue)`. Default false. */
  paused?: boolean;
  /**
   * Asked at each poll, for example of a feature flag: while it returns false, this process claims no jobs of the queue, and
   * running jobs continue. It must be fast. If it throws, its last answer holds, and a warning is logged. Default: none.
   */
  enabled?: () => boolean;
  /** The largest encoded payload or result in bytes, 1 to 16,000,000. Default 1,048,576 (1 MiB). */
  maxPayloadBytes?: number;
  /**
   * The limit of waiting jobs, 1 to 10,000,000, above which `enqueue` rejects with QueueFullError. Scheduled jobs count
   * once they are due. A producer counts at most once per second, or ten times per second while the queue is full, and not
   * in the transaction of the insertion. Several producers, or concurrent calls with keys, can therefore exceed the limit by
   * a few jobs. Default false: no limit.
   */
  maxWaiting?: number | false;
  /**
   * The limit of active jobs of this queue in all processes together, 1 to 1,000,000. Assigned jobs count, too. Workers
   * do not prefetch jobs of a queue with limits. Default false: no limit.
   */
  maxRunning?: number | false;
  /** How many jobs of this queue may start in a time, in all processes together. Default false: no limit. */
  rate?: RateOptions | false;
  /**
   * Divides the queue into groups, for example one per tenant: jobs with the option `group` run in fair turns, and limits
   * hold for each group. Set it in every process that enqueues or works. Not with `order: 'lifo'`. Default: no groups.
   */
  groups?: GroupOptions;
  /**
   * Makes the queue temporary. It is deleted, with its subscriptions, after it has been empty and without a worker for
   * this time, 1s to 365d. It stays while it is paused or has the setting `enabled` of `QueueAdmin.configure`. Default false:
   * the queue is permanent.
   */
  expiresAfter?: Duration | false;
  /**
   * Defaults of the options of each job, which the options of `enqueue` override. Headers merge name by name. Set them
   * in every process that enqueues. Jobs of schedules have no default `delay`. Default: none.
   */
  jobDefaults?: JobDefaults;
  /**
   * Whether the worker logs each failed run and each result that could not be stored as a warning, and each dead job as
   * an error. A log line has the name and message of the error, and never the payload. Default true.
   */
  logFailures?: boolean;
  /**
   * Whether a process that enqueues into the queue warns, once, if no worker of any process has served it for a minute. False
   * for queues whose jobs people or other programs take. Default true.
   */
  expectWorker?: boolean;
  /**
   * Whether the queue records its events for listeners in other processes: `@OnQueueEvent('completed', { from:
   * 'anywhere' })`. Each change of a job adds a row in the same transaction; rows are kept for ten minutes. Set the
   * option in every process that enqueues, works or administers the queue: a process without it records none of its
   * changes. Default false.
   */
  events?: boolean;
}

/** The options of `enqueue` that a queue can set for its jobs. */
export type JobDefaults = Pick<EnqueueOptions, 'priority' | 'delay' | 'headers'>;

const JOB_DEFAULTS = group(
  {
    priority: option(whole(-32_768, 32_767)),
    delay: option(duration),
    headers: HEADERS,
  } satisfies SchemaOf<JobDefaults>,
  'jobDefaults.',
);

/**
 * `resolveQueueOptions` gives durations a name with `Ms`. All rooms read options through `optionsFor(queue)`: `job-content.ts`
 * those of new jobs and of their content. `queueOptionProblems` checks two options together, in one layer of the options. If
 * only workers use an option, `WORKER_ONLY_OPTIONS` in `nest/unworked-queues.ts` names it.
 */
export const QUEUE_OPTIONS = {
  concurrency: option(whole(1, 10_000), 10),
  retry: RETRY,
  lease: option(LEASE, '30s'),
  timeout: option(either(false, positiveDuration), false),
  order: option(oneOf('fifo', 'lifo'), 'fifo'),
  claim: option(oneOf('auto', ...CLAIM_STRATEGIES), 'auto'),
  prefetch: option(either('auto', whole(0, 1_000)), 'auto'),
  retention: RETENTION,
  deadLetter: option(either(false, kind(NAME_EXPECTED, isName)), false),
  schema: option(kind('a Standard Schema (zod, valibot, arktype …)', isStandardSchema)),
  paused: option(flag, false),
  enabled: option(func<() => boolean>()),
  maxPayloadBytes: option(whole(1, 16_000_000), 1_048_576),
  maxWaiting: option(either(false, whole(1, 10_000_000)), false),
  maxRunning: MAX_RUNNING,
  rate: RATE,
  groups: GROUPS,
  expiresAfter: option(either(false, durationOf(`a duration from '1s' to '365d'`, 1_000, 365 * 86_400_000)), false),
  events: option(flag, false),
  logFailures: option(flag, true),
  expectWorker: option(flag, true),
  jobDefaults: JOB_DEFAULTS,
} satisfies SchemaOf<QueueOptions>;

/** Checked, with every default in place, durations in milliseconds. */
export type ResolvedQueueOptions = Readonly<ReturnType<typeof resolveQueueOptions>> & {
  /** The codecs of the module; undefined: none. */
  readonly codec?: ContentCodec | undefined;
};

// A handler must know whether its argument is a batch, and every process that prunes must know the archives.
const NEXT_TO_HANDLER = 'belongs to the options of @QueueProcessor(), next to the handler';
const MISPLACED = {
  batch: NEXT_TO_HANDLER,
  topic: NEXT_TO_HANDLER,
  where: NEXT_TO_HANDLER,
  archive: 'belongs to the options of the module, as `archive` or `queues: { name: { archive } }`',
};

/** The lower options, overridden by the upper ones that are not undefined. `retry`, `retention` and `jobDefaults` merge. */
export function overlay(lower: QueueOptions, upper: QueueOptions): QueueOptions {
  return {
    ...lower,
    ...defined(upper),
    retry: { ...defined(asRetry(lower.retry)), ...defined(asRetry(upper.retry)) },
    retention: { ...lower.retention, ...defined(upper.retention) },
    jobDefaults: { ...lower.jobDefaults, ...defined(upper.jobDefaults) },
  };
}

/** Sees one layer of the options, before all layers are merged. `queue` is set if the layer is for one queue. */
export function queueOptionProblems(options: unknown, queue?: string): string[] {
  if (typeof options !== 'object' || options === null) return [expected(false, 'queue options', options)!];
  const { deadLetter, groups, order } = options as QueueOptions;
  const own = optionProblems(QUEUE_OPTIONS, options, { misplaced: MISPLACED });
  if (groups !== undefined && order === 'lifo')
    own.push(expected(false, `order to be 'fifo' in a queue with groups`, order)!);
  const isOwnDeadLetter = queue !== undefined && deadLetter === queue;
  return isOwnDeadLetter ? [...own, expected(false, 'deadLetter to be another queue', deadLetter)!] : own;
}

/** The options have been checked. */
export function resolveQueueOptions(given: QueueOptions = {}) {
  const { lease, timeout, expiresAfter, maxRunning, rate, ...others } = resolveOptions(QUEUE_OPTIONS, given);
  const limits: Limits = { maxRunning: maxRunning || null, rate: rate || null };
  return { ...others, limits, leaseMs: lease, timeoutMs: timeout, expiresAfterMs: expiresAfter };
}

function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  return typeof (value as Partial<StandardSchemaV1> | null)?.['~standard']?.validate === 'function';
}
