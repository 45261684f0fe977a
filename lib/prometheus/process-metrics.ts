import type { AttemptOfJob, EndedAttempt, QueueInstrumentation } from '../job/instrumentation.js';
import type { QueueOccupancy } from '../worker/queue/job-starter.js';
import { Counter, Histogram, ReadGauge, type Labels, type OwnMetric, type Sample } from './metric.js';
import { SeriesLimit } from './series-limit.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];
// A rate sees the first increment of a series only if the series was visible before.
const EXPECTED_OUTCOMES = ['completed', 'failed', 'dead'] as const;

export interface ProcessMetricsSettings {
  readonly names: boolean;
  readonly queues: readonly string[] | undefined;
}

/** The slots and queues of the worker of this process. */
export interface ObservedRunner {
  readonly queues: readonly string[];
  occupancy(): readonly QueueOccupancy[];
}

/** The metrics of this process. They come from memory, so they need no database. */
export class ProcessMetrics implements QueueInstrumentation {
  readonly #runs = new Counter('sql_queue_job_runs_total', 'Attempts that have ended in this process, by outcome');
  readonly #enqueued = new Counter('sql_queue_enqueued_total', 'Jobs that this process has enqueued');
  readonly #leasesLost = new Counter('sql_queue_leases_lost_total', 'Attempts of this process whose lease was lost');
  readonly #rescues = new Counter('sql_queue_rescues_total', 'Jobs whose lease had expired, rescued by this process');
  readonly #retries = new Counter('sql_queue_db_retries_total', 'Statements and transactions that were repeated');
  readonly #waits = new Histogram('sql_queue_job_wait_seconds', 'How long jobs were due before their start', SECONDS);
  readonly #runTimes = new Histogram('sql_queue_job_run_seconds', 'How long attempts took', SECONDS);
  readonly #queues: SeriesLimit;
  readonly #names = new SeriesLimit();

  constructor(
    private readonly settings: ProcessMetricsSettings,
    private readonly runner: ObservedRunner,
  ) {
    this.#queues = new SeriesLimit(settings.queues);
  }

  get all(): readonly OwnMetric[] {
    const gauge = (name: string, help: string, value: (queue: QueueOccupancy) => number) =>
      new ReadGauge(name, help, () => this.#slotSamples(value));
    return [
      ...[this.#runs, this.#enqueued, this.#leasesLost, this.#rescues, this.#retries, this.#waits, this.#runTimes],
      gauge('sql_queue_slots', 'Handler calls that may run at once in this process', ({ slots }) => slots),
      gauge('sql_queue_slots_busy', 'Handler calls that run in this process', ({ busy }) => busy),
      gauge('sql_queue_prefetched', 'Jobs that this process has claimed and not started', (one) => one.prefetched),
    ];
  }

  ended(attempt: EndedAttempt): void {
    const labels = this.#labelsOf(attempt);
    if (!labels) return;
    this.#runs.add({ ...labels, outcome: attempt.outcome }, 1);
    if (attempt.waitMs !== null) this.#waits.observe(labels, attempt.waitMs / 1_000);
    if (attempt.ranMs !== null) this.#runTimes.observe(labels, attempt.ranMs / 1_000);
  }

  enqueued(queue: string): void {
    this.#count(this.#enqueued, queue);
  }

  leaseLost({ queue }: AttemptOfJob): void {
    this.#count(this.#leasesLost, queue);
  }

  rescued({ queue }: EndedAttempt): void {
    this.#count(this.#rescues, queue);
  }

  databaseRetried(code: string): void {
    this.#retries.add({ code }, 1);
  }

  #count(counter: Counter, name: string): void {
    const queue = this.#queues.labelOf(name);
    if (queue !== undefined) counter.add({ queue }, 1);
  }

  #labelsOf({ queue: name, name: jobName }: AttemptOfJob): Labels | undefined {
    const queue = this.#queues.labelOf(name);
    if (queue === undefined) return undefined;
    return this.settings.names ? { queue, name: this.#names.labelOf(jobName)! } : { queue };
  }

  #slotSamples(value: (queue: QueueOccupancy) => number): Sample[] {
    this.#showQueues();
    return this.runner.occupancy().flatMap((occupancy) => {
      const queue = this.#queues.labelOf(occupancy.queue);
      return queue === undefined ? [] : [{ labels: { queue }, value: value(occupancy) }];
    });
  }

  /** Makes the series of the queues of this process visible from the first scrape on. */
  #showQueues(): void {
    for (const name of this.runner.queues) {
      const queue = this.#queues.labelOf(name);
      if (queue === undefined) continue;
      this.#leasesLost.add({ queue }, 0);
      this.#rescues.add({ queue }, 0);
      if (this.settings.names) continue;
      for (const outcome of EXPECTED_OUTCOMES) this.#runs.add({ queue, outcome }, 0);
    }
  }
}
