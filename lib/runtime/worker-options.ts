import type { QueuePattern } from '../job/queue-jobs.js';
import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { expected, isOptions, isWhole, unknownKeys } from '../job/expectation.js';

/** How this process works. */
export interface WorkerOptions {
  /** Start with the application; else `SqlQueueRunner.start()` does. Default true. */
  autoStart?: boolean;
  /** Only these, or all but these, of the queues that have handlers. `report.*` matches a prefix. */
  queues?: { include?: QueuePattern[]; exclude?: QueuePattern[] };
  /** Jobs running at once over all queues of this process, 1 to 100,000. Default: no limit but the queues' own. */
  concurrency?: number;
  /** How often to look for jobs when there are none: from `min` (100ms) it slows down to `max` (2s). */
  poll?: { min?: Duration; max?: Duration };
  /**
   * Whether this process wakes others that could take what it enqueues, and is woken by them. `auto` (default): where that
   * works, else it polls. On MySQL and MariaDB it takes a connection of its own.
   */
  doorbell?: 'auto' | false;
  /** How long running jobs may take to end when the application closes, before they are aborted. Default 20s. */
  shutdown?: { timeout?: Duration };
  /**
   * Where leases are renewed. `main` (default): on the event loop, so that a handler which computes for longer than a lease
   * without a pause loses its job. `thread`: in a thread with a connection of its own, also while the event loop stands still.
   */
  heartbeat?: 'main' | 'thread';
  /**
   * How long the event loop may stand still before the heartbeat's thread takes the process for dead-locked, and lets its
   * leases lapse. From 1s, default 10m.
   */
  maxBlocked?: Duration;
}

export interface ResolvedWorkerOptions {
  readonly autoStart: boolean;
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[];
  readonly concurrency: number;
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  readonly doorbell: boolean;
  readonly shutdownTimeoutMs: number;
  readonly heartbeat: 'main' | 'thread';
  readonly maxBlockedMs: number;
}

const KNOWN: readonly (keyof WorkerOptions)[] = [
  ...(['autoStart', 'queues', 'concurrency', 'poll', 'doorbell', 'shutdown', 'heartbeat', 'maxBlocked'] as const),
];

export function workerOptionProblems(options: unknown): string[] {
  if (typeof options !== 'object' || options === null)
    return [expected(false, 'worker to be options or a boolean', options)!];
  const {
    autoStart = true,
    queues = {},
    concurrency = 1,
    poll = {},
    doorbell = 'auto',
    shutdown = {},
    heartbeat = 'main',
    maxBlocked = '10m',
  } = options as WorkerOptions;
  // What is no options at all is said below.
  const { min = 1, max = '1d' } = isOptions(poll) ? poll : {};
  const { timeout = 0 } = isOptions(shutdown) ? shutdown : {};
  const { include, exclude } = isOptions(queues) ? queues : {};
  return [
    ...unknownKeys(options, KNOWN),
    ...unknownKeys(queues, ['include', 'exclude']),
    ...unknownKeys(poll, ['min', 'max']),
    ...unknownKeys(shutdown, ['timeout']),
    expected(typeof autoStart === 'boolean', 'autoStart to be true or false', autoStart),
    ...[include, exclude].map((list) =>
      expected(
        list === undefined || Array.isArray(list),
        'queues.include and queues.exclude to be lists of queues',
        list,
      ),
    ),
    expected(isWhole(concurrency, 1, 100_000), 'concurrency to be a whole number from 1 to 100000', concurrency),
    expected((toMs(min) ?? 0) >= 1, `poll.min to be ${DURATION_EXPECTED} above 0`, min),
    expected((toMs(max) ?? 0) >= (toMs(min) ?? 0), 'poll.max to be a duration not below poll.min', max),
    expected(['auto', false].includes(doorbell), `doorbell to be 'auto' or false`, doorbell),
    expected(toMs(timeout) !== undefined, `shutdown.timeout to be ${DURATION_EXPECTED}`, timeout),
    expected(['main', 'thread'].includes(heartbeat), `heartbeat to be 'main' or 'thread'`, heartbeat),
    expected((toMs(maxBlocked) ?? 0) >= 1_000, `maxBlocked to be ${DURATION_EXPECTED} from 1s`, maxBlocked),
  ].filter((line): line is string => line !== undefined);
}

export function resolveWorkerOptions(given: WorkerOptions = {}): ResolvedWorkerOptions {
  const { autoStart = true, queues = {}, concurrency = Infinity, poll = {}, doorbell = 'auto', shutdown = {} } = given;
  const { heartbeat = 'main', maxBlocked = '10m' } = given;
  const { min = '100ms', max = '2s' } = poll;
  const { timeout = '20s' } = shutdown;
  return {
    autoStart,
    include: queues.include,
    exclude: queues.exclude ?? [],
    concurrency,
    pollMinMs: Math.min(toMs(min)!, toMs(max)!),
    pollMaxMs: toMs(max)!,
    doorbell: doorbell === 'auto',
    shutdownTimeoutMs: toMs(timeout)!,
    heartbeat,
    maxBlockedMs: toMs(maxBlocked)!,
  };
}
