import { pageSize } from '../common/lists.js';
import { inRootContext } from '../common/async-context.js';
import type { Clock, DatabaseClock } from '../common/clock.js';
import { OutageLog, type JobLogger } from '../common/logger.js';
import type { EndedAttempt, QueueInstrumentation } from '../job/instrumentation.js';
import { randomId } from '../job/identifiers.js';
import {
  addSums,
  emptySums,
  subtractErrors,
  subtractSums,
  METRICS_STEPS,
  type ErrorsRow,
  type MetricsRow,
  type MetricsStore,
  type MetricsSums,
} from '../store/features/metrics/metrics-store.js';
import { ErrorCounter } from './error-counter.js';
import { UnsavedRows } from './unsaved-rows.js';

// A process that is killed loses the attempts of this time.
const SAVE_INTERVAL_MS = 10_000;
const MINUTE_MS = METRICS_STEPS.minute;
// Less than the time after which any process adds up the rows of a minute and deletes them.
const MAX_REPLACED_AFTER_MS = 9 * MINUTE_MS;
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
  readonly #unsaved = new UnsavedRows<MetricsRow>(
    ({ queue, startsAtMs, recorder }) => JSON.stringify([queue, startsAtMs, recorder]),
    subtractSums,
  );
  readonly #unsavedErrors = new UnsavedRows<ErrorsRow>(
    ({ queue, startsAtMs, recorder, error }) => JSON.stringify([queue, startsAtMs, recorder, error]),
    subtractErrors,
  );
  /** The times of the last successful save, by two clocks: either may stand still while the machine does. */
  #savedAt = { monotonicMs: 0, wallMs: 0 };
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
    this.#savedAt = this.#times();
    let isFirst = true;
    let isLast = false;
    do {
      await this.parts.clock.sleep(this.#pauseMs(), this.#stopping.signal);
      // A save that is under way lacks the attempts that have ended since.
      isLast = this.#stopping.signal.aborted;
      await this.#save(isFirst);
      isFirst = false;
    } while (!isLast && this.#hasUnsaved);
    // The next attempt may end in a later minute.
    this.#queues = new Map();
    this.#recorder = randomId();
    this.#running = undefined;
  }

  get #hasUnsaved(): boolean {
    return this.#unsaved.rows.length > 0 || [...this.#queues.values()].some(({ isSaved }) => !isSaved);
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
      const isLate = this.#isLate(minute);
      const startsMinute = minute !== this.#minuteMs;
      this.#takeRows();
      if (startsMinute) this.#startMinute(minute);
      if (isLate) await this.#separateRows();
      const times = this.#times();
      if (this.#unsaved.rows.length > 0) await this.parts.store.save(this.#unsaved.rows, this.#unsavedErrors.rows);
      this.#savedAt = times;
      this.#unsaved.onSaved(!startsMinute && !isLate);
      this.#unsavedErrors.onSaved(!startsMinute && !isLate);
      if (startsMinute || isFirst) await this.#fold();
      this.#outage.onSuccess();
    } catch (error) {
      this.#outage.onFailure(error);
    }
  }

  /** The process or the database was away, or the clock of the database was set forward. */
  #isLate(minute: number): boolean {
    const { monotonicMs, wallMs } = this.#times();
    const saved = this.#savedAt;
    const pausesMs = [monotonicMs - saved.monotonicMs, wallMs - saved.wallMs, minute - this.#minuteMs!];
    return Math.max(...pausesMs) >= MAX_REPLACED_AFTER_MS;
  }

  #times() {
    return { monotonicMs: this.parts.clock.monotonic(), wallMs: this.parts.clock.now().getTime() };
  }

  /** Later attempts get rows of their own, too. */
  async #separateRows(): Promise<void> {
    const { clock, databaseClock, store } = this.parts;
    const requestedAt = clock.monotonic();
    databaseClock.learnAnew(await store.readTime(), requestedAt);
    // Attempts may have ended meanwhile.
    this.#takeRows();
    this.#unsaved.separate();
    this.#unsavedErrors.separate();
    this.#startMinute(this.#presentMinute()!);
    this.#recorder = randomId();
    // If the answer to their save is lost, the next save replaces these rows.
    this.#savedAt = this.#times();
  }

  /** Also those of other processes, which may be idle or gone. */
  async #fold(): Promise<void> {
    const limit = pageSize(FOLD_BATCH_SIZE);
    while (!this.#stopping.signal.aborted && (await this.parts.store.fold(limit)) >= limit);
  }

  #takeRows(): void {
    this.#unsavedErrors.add([...this.#queues].flatMap(([queue, { errors }]) => errors.take(this.#keyOf(queue))));
    const unsaved = [...this.#queues].filter(([, { isSaved }]) => !isSaved);
    this.#unsaved.add(
      unsaved.map(([queue, minute]) => {
        minute.isSaved = true;
        return { ...this.#keyOf(queue), ...minute.copySums() };
      }),
    );
  }

  #startMinute(minute: number): void {
    // The clock of the database was set back: its rows of this minute must not be replaced.
    if (minute < this.#minuteMs!) this.#recorder = randomId();
    this.#minuteMs = minute;
    this.#queues = new Map();
  }

  #keyOf(queue: string) {
    return { queue, stepMs: METRICS_STEPS.process, startsAtMs: this.#minuteMs!, recorder: this.#recorder };
  }
}
