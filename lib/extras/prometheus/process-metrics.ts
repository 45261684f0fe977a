import type { AttemptOfJob, EndedAttempt, QueueInstrumentation } from '../../job/instrumentation.js';
import type { QueueOccupancy } from '../../worker/queue/plan.js';
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
  /** By queue, or by queue and name: one lookup per job instead of three. */
  readonly #attempts = new Map<string, AttemptSeries>();
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
    const queue = this.#queues.labelOf(attempt.queue);
    if (queue === undefined) return;
    const name = this.settings.names ? this.#names.labelOf(attempt.name)! : '';
    const key = name === '' ? queue : `${queue}\0${name}`;
    let series = this.#attempts.get(key);
    if (!series) this.#attempts.set(key, (series = this.#attemptSeries(name === '' ? { queue } : { queue, name })));
    series.add(attempt);
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
    this.#retries.seriesOf({ code }).value++;
  }

  #count(counter: Counter, name: string): void {
    const queue = this.#queues.labelOf(name);
    if (queue !== undefined) counter.seriesOf({ queue }).value++;
  }

  #attemptSeries(labels: Labels): AttemptSeries {
    return new AttemptSeries(labels, this.#runs, this.#waits, this.#runTimes);
  }

  #slotSamples(value: (queue: QueueOccupancy) => number): Sample[] {
    this.#showQueues();
    const sums = new Map<string, number>();
    for (const occupancy of this.runner.occupancy()) {
      const queue = this.#queues.labelOf(occupancy.queue);
      if (queue !== undefined) sums.set(queue, (sums.get(queue) ?? 0) + value(occupancy));
    }
    return [...sums].map(([queue, sum]) => ({ labels: { queue }, value: sum }));
  }

  /** Makes the series of the queues of this process visible from the first scrape on. */
  #showQueues(): void {
    for (const name of this.runner.queues) {
      const queue = this.#queues.labelOf(name);
      if (queue === undefined) continue;
      this.#leasesLost.seriesOf({ queue });
      this.#rescues.seriesOf({ queue });
      if (this.settings.names) continue;
      for (const outcome of EXPECTED_OUTCOMES) this.#runs.seriesOf({ queue, outcome });
    }
  }
}

/** The series of the attempts of one queue, or of one name in it. */
class AttemptSeries {
  readonly #outcomes = new Map<EndedAttempt['outcome'], ReturnType<Counter['seriesOf']>>();
  #wait: ReturnType<Histogram['seriesOf']> | undefined;
  #runTime: ReturnType<Histogram['seriesOf']> | undefined;

  constructor(
    private readonly labels: Labels,
    private readonly runs: Counter,
    private readonly waits: Histogram,
    private readonly runTimes: Histogram,
  ) {}

  add({ outcome, waitMs, ranMs }: EndedAttempt): void {
    let count = this.#outcomes.get(outcome);
    if (!count) this.#outcomes.set(outcome, (count = this.runs.seriesOf({ ...this.labels, outcome })));
    count.value++;
    if (waitMs !== null) (this.#wait ??= this.waits.seriesOf(this.labels)).observe(waitMs / 1_000);
    if (ranMs !== null) (this.#runTime ??= this.runTimes.seriesOf(this.labels)).observe(ranMs / 1_000);
  }
}
