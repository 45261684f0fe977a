import { pageSize } from '../common/lists.js';
import { inRootContext } from '../common/async-context.js';
import type { Clock, DatabaseClock } from '../common/clock.js';
import { OutageLog, type JobLogger } from '../common/logger.js';
import type { EndedAttempt, QueueInstrumentation } from '../job/instrumentation.js';
import { randomId } from '../job/identifiers.js';
import {
  addSums,
  emptySums,
  METRICS_STEPS,
  type ErrorsRow,
  type MetricsRow,
  type MetricsStore,
  type MetricsSums,
} from '../store/features/metrics/metrics-store.js';
import { ErrorCounter } from './error-counter.js';

// A process that is killed loses the attempts of this time.
const SAVE_INTERVAL_MS = 10_000;
const MINUTE_MS = METRICS_STEPS.minute;
// While the database is away, older minutes are dropped.
const MAX_UNSAVED_ROWS = 10_000;
const FOLD_BATCH_SIZE = 500;

export interface MetricsRecorderParts {
  readonly store: Pick<MetricsStore, 'readTime' | 'save' | 'fold'>;
  readonly clock: Clock;
  readonly databaseClock: DatabaseClock;
  readonly logger: JobLogger;
}

/** The attempts of one queue in the present minute. */
class QueueMinute {
  readonly sums = emptySums();
  readonly errors = new ErrorCounter();
  isSaved = true;

  add(attempt: EndedAttempt, databaseClock: Pick<DatabaseClock, 'at'>): void {
    const { outcome, waitMs, ranMs } = attempt;
    this.isSaved = false;
    if (outcome === 'completed') this.sums.completed++;
    if (outcome === 'cancelled') this.sums.cancelled++;
    if (outcome === 'dead') this.sums.dead++;
    if (outcome === 'dead' || outcome === 'failed') {
      this.sums.failed++;
      this.errors.add(attempt, databaseClock.at());
    }
    if (waitMs !== null) this.sums.waits.add(waitMs);
    if (ranMs !== null) this.sums.runs.add(ranMs);
  }

  copySums(): MetricsSums {
    const copy = emptySums();
    addSums(copy, this.sums);
    return copy;
  }
}

/**
 * Adds up the attempts of this process per queue and minute, and saves them every ten seconds: one statement for all
 * queues, and one for their errors if an attempt has failed. Once a minute it adds older minutes up. While no attempt ends
 * it sends nothing.
 */
export class MetricsRecorder implements QueueInstrumentation {
  #queues = new Map<string, QueueMinute>();
  /** Undefined until the first save of a run. */
  #minuteMs: number | undefined;
  #recorder = randomId();
  /** The rows of earlier minutes. */
  #unsaved: MetricsRow[] = [];
  #unsavedErrors: ErrorsRow[] = [];
  #running: Promise<void> | undefined;
  readonly #stopping = new AbortController();
  readonly #outage: OutageLog;

  constructor(private readonly parts: MetricsRecorderParts) {
    this.#outage = new OutageLog(parts.logger, 'Cannot save metrics', 'Metrics are saved again.');
  }

  ended(attempt: EndedAttempt): void {
    const { outcome, queue } = attempt;
    if (outcome === 'released' || outcome === 'snoozed' || outcome === 'blocked') return;
    let minute = this.#queues.get(queue);
    if (!minute) this.#queues.set(queue, (minute = new QueueMinute()));
    minute.add(attempt, this.parts.databaseClock);
    this.#running ??= inRootContext(() => this.#run());
  }

  /** Saves the rest. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    this.#minuteMs = this.#presentMinute();
    let isFirst = true;
    do {
      await this.parts.clock.sleep(this.#pauseMs(), this.#stopping.signal);
      await this.#save(isFirst);
      isFirst = false;
    } while (!this.#stopping.signal.aborted && this.#hasUnsaved);
    // The next attempt may end in a later minute.
    this.#queues = new Map();
    this.#recorder = randomId();
    this.#running = undefined;
  }

  get #hasUnsaved(): boolean {
    return this.#unsaved.length > 0 || [...this.#queues.values()].some(({ isSaved }) => !isSaved);
  }

  #presentMinute(now = this.parts.databaseClock.at()): number | undefined {
    return now === undefined ? undefined : now - (now % MINUTE_MS);
  }

  /** Until the end of the minute at most. */
  #pauseMs(): number {
    const now = this.parts.databaseClock.at();
    return now === undefined ? SAVE_INTERVAL_MS : Math.min(SAVE_INTERVAL_MS, MINUTE_MS - (now % MINUTE_MS));
  }

  async #save(isFirst: boolean): Promise<void> {
    try {
      const minute = this.#presentMinute() ?? this.#presentMinute(await this.parts.store.readTime())!;
      this.#minuteMs ??= minute;
      this.#unsavedErrors = [...this.#unsavedErrors, ...this.#takeErrors()].slice(-MAX_UNSAVED_ROWS);
      this.#unsaved = [...this.#unsaved, ...this.#takeRows()].slice(-MAX_UNSAVED_ROWS);
      const startsMinute = minute !== this.#minuteMs;
      if (startsMinute) this.#startMinute(minute);
      // In their order: a later row of the same minute replaces an earlier one.
      if (this.#unsaved.length > 0) await this.parts.store.save(this.#unsaved, this.#unsavedErrors);
      this.#unsaved = [];
      this.#unsavedErrors = [];
      if (startsMinute || isFirst) await this.#fold();
      this.#outage.onSuccess();
    } catch (error) {
      this.#outage.onFailure(error);
    }
  }

  /** Also those of other processes, which may be idle or gone. */
  async #fold(): Promise<void> {
    const limit = pageSize(FOLD_BATCH_SIZE);
    while (!this.#stopping.signal.aborted && (await this.parts.store.fold(limit)) >= limit);
  }

  #takeRows(): MetricsRow[] {
    const unsaved = [...this.#queues].filter(([, { isSaved }]) => !isSaved);
    return unsaved.map(([queue, minute]) => {
      minute.isSaved = true;
      return this.#toRow(queue, minute);
    });
  }

  #takeErrors(): ErrorsRow[] {
    return [...this.#queues].flatMap(([queue, { errors }]) => errors.take(this.#keyOf(queue)));
  }

  #startMinute(minute: number): void {
    // The clock of the database was set back: its rows of this minute must not be replaced.
    if (minute < this.#minuteMs!) this.#recorder = randomId();
    this.#minuteMs = minute;
    this.#queues = new Map();
  }

  #toRow(queue: string, minute: QueueMinute): MetricsRow {
    return { ...this.#keyOf(queue), ...minute.copySums() };
  }

  #keyOf(queue: string) {
    return { queue, stepMs: METRICS_STEPS.process, startsAtMs: this.#minuteMs!, recorder: this.#recorder };
  }
}
