import type { QueuePattern } from '../job/queue-jobs.js';
import { DURATION_EXPECTED, toMs, type Duration } from '../common/units.js';
import { expected } from '../job/expectation.js';
import {
  duration,
  durationOf,
  flag,
  group,
  kind,
  oneOf,
  option,
  optionProblems,
  positiveDuration,
  resolveOptions,
  whole,
  type SchemaOf,
} from '../job/option-schema.js';

/** The options of the worker of this process. */
export interface WorkerOptions {
  /** Start the worker with the application. If false, call `SqlQueueRunner.start()`. Default true. */
  autoStart?: boolean;
  /**
   * The queues with handlers that are worked here, or those that are not. `report.*` matches a prefix. Default: all.
   */
  queues?: { include?: QueuePattern[]; exclude?: QueuePattern[] };
  /**
   * How many handler calls may run at once over all queues of this process, 1 to 100,000. Default: only the queues'
   * limits.
   */
  concurrency?: number;
  /**
   * The pause between polls. While there are no jobs, it grows from `min` (default 100ms) to `max` (default 2s). If only one
   * is set, it limits the default of the other.
   */
  poll?: { min?: Duration; max?: Duration };
  /**
   * Whether this process notifies other processes of new jobs, and receives their notifications. `auto` (default): if
   * the database supports it, otherwise the process only polls. On MySQL and MariaDB this takes one more connection for
   * the worker, one while the process waits for results, and one if it listens to the events of all processes.
   */
  notify?: 'auto' | false;
  /** When the application closes, running jobs have this time to end before they are aborted. Default 20s. */
  shutdown?: { timeout?: Duration };
  /**
   * The place of the heartbeat, which renews leases. `main` (default): the event loop. A handler that blocks it for
   * longer than a lease loses its job. `thread`: a thread with its own connection, which also works while the event
   * loop is blocked. It opens no SQLite database in memory, and none with a driver other than better-sqlite3.
   */
  heartbeat?: 'main' | 'thread';
  /**
   * How long the event loop may be blocked before the heartbeat thread stops renewing leases, because the process may
   * be in an endless loop. 1s or more, default 10m.
   */
  maxBlocked?: Duration;
}

export type ResolvedWorkerOptions = Readonly<ReturnType<typeof resolveWorkerOptions>>;

const QUEUE_LIST = kind('a list of queues', (value): value is string[] => Array.isArray(value));

const POLL_OPTIONS = { min: option(positiveDuration, '100ms'), max: option(positiveDuration, '2s') };

const WORKER_OPTIONS = {
  autoStart: option(flag, true),
  queues: group({ include: option(QUEUE_LIST), exclude: option(QUEUE_LIST, []) }, 'queues.'),
  concurrency: option(whole(1, 100_000)),
  poll: group(POLL_OPTIONS, 'poll.'),
  notify: option(oneOf('auto', false), 'auto'),
  shutdown: group({ timeout: option(duration, '20s') }, 'shutdown.'),
  heartbeat: option(oneOf('main', 'thread'), 'main'),
  maxBlocked: option(durationOf(`${DURATION_EXPECTED} from 1s`, 1_000), '10m'),
} satisfies SchemaOf<WorkerOptions>;

export function workerOptionProblems(options: unknown): string[] {
  if (typeof options !== 'object' || options === null)
    return [expected(false, 'worker to be options or a boolean', options)!];
  return [...optionProblems(WORKER_OPTIONS, options), ...pollRangeProblems((options as WorkerOptions).poll ?? {})];
}

/** The options have been checked. */
export function resolveWorkerOptions(given: WorkerOptions = {}) {
  const options = resolveOptions(WORKER_OPTIONS, given);
  const { autoStart, queues, concurrency = Infinity, poll, heartbeat } = options;
  // If only one end is set, it limits the default of the other one.
  const pollMaxMs = given.poll?.max === undefined ? Math.max(poll.min, poll.max) : poll.max;
  return {
    ...{ autoStart, heartbeat, include: queues.include, exclude: queues.exclude, concurrency },
    pollMinMs: Math.min(poll.min, pollMaxMs),
    pollMaxMs,
    usesNotifications: options.notify === 'auto',
    shutdownTimeoutMs: options.shutdown.timeout,
    maxBlockedMs: options.maxBlocked,
  };
}

function pollRangeProblems({ min, max }: { min?: unknown; max?: unknown }): string[] {
  const isBelow = min !== undefined && max !== undefined && toMs(max)! < toMs(min)!;
  return isBelow ? [expected(false, 'poll.max to be a duration not below poll.min', max)!] : [];
}
