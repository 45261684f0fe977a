import { Histogram } from '../../../job/histogram.js';

/** The attempts of a queue that ended within a time. */
export interface MetricsSums {
  completed: number;
  /** The attempts that failed, those included after which the job was dead. */
  failed: number;
  dead: number;
  cancelled: number;
  readonly waits: Histogram;
  readonly runs: Histogram;
}

export interface MetricsRow extends MetricsSums {
  readonly queue: string;
  /** The start of the minute, hour or day by the clock of the database. */
  readonly startsAtMs: number;
  /** The length of that time; see METRICS_STEPS. */
  readonly stepMs: number;
  /** The process that has written it, as a random number; 0: the sum of all processes. */
  readonly recorder: number;
}

/** The minutes of single processes have 0, so that the sum of all processes is another step. */
export const METRICS_STEPS = { process: 0, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

export interface MetricsRange {
  /** Null: 60 steps before the end. */
  readonly fromMs: number | null;
  /** Null: now. */
  readonly toMs: number | null;
  readonly stepMs: number;
}

/** How many attempts ended per minute, and how long they waited and ran. */
export interface MetricsStore {
  /** The time of the database in milliseconds. */
  readTime(): Promise<number>;
  /** Adds the rows, or replaces those of the same process and minute. */
  save(rows: readonly MetricsRow[]): Promise<void>;
  /** The rows of all steps that overlap the range. */
  read(queue: string, range: MetricsRange): Promise<MetricsRow[]>;
  /**
   * Adds the minutes of the processes up after ten minutes, minutes to hours after a day, and hours to days after 30 days.
   * Deletes days after a year. Returns the number of rows that it has added up or deleted, `limit` at most.
   */
  fold(limit: number): Promise<number>;
}

export function emptySums(): MetricsSums {
  return { completed: 0, failed: 0, dead: 0, cancelled: 0, waits: new Histogram(), runs: new Histogram() };
}

export function addSums(to: MetricsSums, from: MetricsSums): void {
  to.completed += from.completed;
  to.failed += from.failed;
  to.dead += from.dead;
  to.cancelled += from.cancelled;
  to.waits.addAll(from.waits);
  to.runs.addAll(from.runs);
}
