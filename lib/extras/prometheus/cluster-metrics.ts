import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import { withTimeout } from '../../common/abort.js';
import { isEnabledNow, isPausedEverywhere } from '../../job/settings/enabled.js';
import type { QueueStats } from '../../store/features/stats/stats-store.js';
import { ReadGauge, type OwnMetric, type Sample } from './metric.js';
import { ReadingLimit } from './series-limit.js';

export interface ClusterMetricsParts {
  readonly admin: Pick<QueueAdmin, 'stats'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly timeoutMs: number;
  readonly queues: readonly string[] | undefined;
}

const PER_QUEUE: readonly [name: string, help: string, value: (queue: QueueStats) => number][] = [
  ['sql_queue_jobs_waiting', 'Jobs that a worker can claim now, counted up to 10,000', ({ waiting }) => waiting.value],
  ['sql_queue_jobs_scheduled', 'Jobs that are not due, counted up to 10,000', ({ scheduled }) => scheduled.value],
  ['sql_queue_jobs_active', 'Jobs that run, are assigned or are prefetched', (one) => one.active + one.prefetched],
  ['sql_queue_jobs_dead', 'Dead jobs in the history, counted up to 10,000', ({ dead }) => dead.value],
  [
    'sql_queue_oldest_waiting_seconds',
    'How long the oldest waiting job has been due; 0 if none waits',
    ({ oldestWaitingMs }) => (oldestWaitingMs ?? 0) / 1_000,
  ],
  [
    'sql_queue_paused',
    '1 if the queue is paused in all processes, or never enabled, else 0',
    (one) => Number(isPausedEverywhere(one)),
  ],
  [
    'sql_queue_enabled',
    '0 outside of the hours at which the settings enable the queue, else 1',
    (one) => Number(isEnabledNow(one)),
  ],
  ['sql_queue_workers', 'Workers that serve the queue and were seen within the last minute', ({ workers }) => workers],
];

interface Reading {
  readonly all: readonly QueueStats[];
  /** Those with series. */
  readonly shown: readonly QueueStats[];
}

/** The gauges of all processes, from the statistics that all processes share. */
export class ClusterMetrics {
  /** All gauges of one scrape share one read. Undefined: the database is away. */
  #reading: Promise<Reading | undefined> | undefined;
  readonly #queues: ReadingLimit;

  constructor(private readonly parts: ClusterMetricsParts) {
    this.#queues = new ReadingLimit(parts.queues);
  }

  get all(): readonly OwnMetric[] {
    return [
      ...PER_QUEUE.map(([name, help, value]) => new ReadGauge(name, help, () => this.#perQueue(value))),
      new ReadGauge('sql_queue_sample_age_seconds', 'The age of the statistics', () => this.#sampleAge()),
      new ReadGauge('sql_queue_stats_up', '1 if the statistics could be read, else 0', () => this.#up()),
    ];
  }

  async #perQueue(value: (queue: QueueStats) => number): Promise<Sample[]> {
    const { shown = [] } = (await this.#read()) ?? {};
    return shown.map((stats) => ({ labels: { queue: stats.queue }, value: value(stats) }));
  }

  async #sampleAge(): Promise<Sample[]> {
    const [first] = (await this.#read())?.all ?? [];
    if (!first) return [];
    return [{ labels: {}, value: first.ageMs / 1_000 }];
  }

  async #up(): Promise<Sample[]> {
    return [{ labels: {}, value: (await this.#read()) ? 1 : 0 }];
  }

  #read(): Promise<Reading | undefined> {
    this.#reading ??= this.#readNow().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** Never rejects: a database that is away must not hide the metrics of this process. */
  async #readNow(): Promise<Reading | undefined> {
    const { admin, clock, timeoutMs } = this.parts;
    try {
      const reading = admin.stats();
      if (!(await withTimeout(clock, timeoutMs, reading))) return undefined;
      const all = await reading;
      return { all, shown: this.#queues.choose(all) };
    } catch {
      return undefined;
    }
  }
}
