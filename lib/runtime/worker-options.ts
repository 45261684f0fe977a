import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { expected, unknownKeys } from '../job/expectation.js';
import { isWhole } from '../job/queue-options.js';

/** How this process works. */
export interface WorkerOptions {
  /** Start with the application; else `SqlQueueRunner.start()` does. Default true. */
  autoStart?: boolean;
  /** Only these, or all but these, of the queues that have handlers. `report.*` matches a prefix. */
  queues?: { include?: string[]; exclude?: string[] };
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
  /** Where leases are renewed. Only `main` is built yet. */
  heartbeat?: 'main' | 'thread';
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
}

const KNOWN: readonly (keyof WorkerOptions)[] = [
  ...(['autoStart', 'queues', 'concurrency', 'poll', 'doorbell', 'shutdown', 'heartbeat'] as const),
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
  } = options as WorkerOptions;
  const { min = 1, max = '1d' } = poll;
  const { timeout = 0 } = shutdown;
  return [
    ...unknownKeys(options, KNOWN),
    ...unknownKeys(queues, ['include', 'exclude']),
    ...unknownKeys(poll, ['min', 'max']),
    ...unknownKeys(shutdown, ['timeout']),
    expected(typeof autoStart === 'boolean', 'autoStart to be true or false', autoStart),
    ...[queues.include, queues.exclude].map((list) =>
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
    expected(heartbeat === 'main', `heartbeat to be 'main' ('thread' is not built yet)`, heartbeat),
  ].filter((line): line is string => line !== undefined);
}

export function resolveWorkerOptions(given: WorkerOptions = {}): ResolvedWorkerOptions {
  const { autoStart = true, queues = {}, concurrency = Infinity, poll = {}, doorbell = 'auto', shutdown = {} } = given;
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
  };
}
