import { Histogram } from '../../../job/histogram.js';
import type { AttemptError, StoredError } from '../../../job/stored-error.js';

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

/** Which attempts a row counts. */
export interface MetricsPlace {
  readonly queue: string;
  /** The start of the minute, hour or day by the clock of the database. */
  readonly startsAtMs: number;
  /** The length of that time; see METRICS_STEPS. */
  readonly stepMs: number;
  /** The process that has written it, as a random number; 0: the sum of all processes. */
  readonly recorder: number;
}

export interface MetricsRow extends MetricsPlace, MetricsSums {}

/** The minutes of single processes have 0, so that the sum of all processes is another step. */
export const METRICS_STEPS = { process: 0, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

export interface MetricsRange {
  /** Null: 60 steps before the end. */
  readonly fromMs: number | null;
  /** Null: now. */
  readonly toMs: number | null;
  readonly stepMs: number;
}

/** The failed attempts of a queue with one error that ended within a time. */
export interface ErrorCounts {
  /** Includes the last attempts of dead jobs. */
  failed: number;
  dead: number;
  firstAtMs: number;
  lastAtMs: number;
  /** The newest job with the error. */
  jobId: number;
}

export interface ErrorsRow extends MetricsPlace, ErrorCounts {
  /** The code of the error, or its name; OTHER_ERRORS: all errors beyond MAX_ERRORS. */
  readonly error: string;
}

/** The most errors that a queue has within a minute, an hour or a day, beside OTHER_ERRORS. */
export const MAX_ERRORS = 100;

/** The error of all rows beyond MAX_ERRORS. */
export const OTHER_ERRORS = '';

export interface ErrorsSearch {
  /** Null: all queues. */
  readonly queue: string | null;
  /** Null: an hour before the end. */
  readonly fromMs: number | null;
  /** Null: now. */
  readonly toMs: number | null;
  readonly limit: number;
  /** The step of the course. Default: a minute. */
  readonly step?: CourseStep;
}

/** The number of steps in the course of an error. */
export const COURSE_STEPS = { minute: 60, hour: 24, day: 30 } as const;

export type CourseStep = keyof typeof COURSE_STEPS;

/** The failed attempts of a queue with one error. */
export interface CountedError {
  readonly queue: string;
  readonly error: string;
  readonly failed: number;
  readonly dead: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** The failed attempts of each of the last 60 minutes of the range, oldest first. */
  readonly lastHour: readonly number[];
  /** Those of each of the last steps of the range, oldest first. */
  readonly course: readonly number[];
  /** The newest job with the error. */
  readonly jobId: number;
  /** The name of that job; null: it is gone. */
  readonly jobName: string | null;
  /** That error of the job; null: the job is gone, or has it no longer. */
  readonly example: StoredError | AttemptError | null;
}

/** How many attempts ended per minute, how long they waited and ran, and by which errors they failed. */
export interface MetricsStore {
  /** The time of the database in milliseconds. */
  readTime(): Promise<number>;
  /** Adds the rows, or replaces those of the same process and minute. Without errors it writes none. */
  save(rows: readonly MetricsRow[], errors?: readonly ErrorsRow[]): Promise<void>;
  /** The rows of the queues, of all steps that overlap the range. One statement, so the caller bounds the queues. */
  read(queues: readonly string[], range: MetricsRange): Promise<MetricsRow[]>;
  /** The errors with the most failed attempts first. */
  readErrors(search: ErrorsSearch): Promise<CountedError[]>;
  /**
   * Adds the minutes of the processes up after ten minutes, minutes to hours after a day, and hours to days after 30 days.
   * Deletes days after a year. Returns the number of rows of one table that it has added up or deleted, `limit` at most.
   */
  fold(limit: number): Promise<number>;
}

export function emptySums(): MetricsSums {
  return { completed: 0, failed: 0, dead: 0, cancelled: 0, waits: new Histogram(), runs: new Histogram() };
}

const COUNTS = ['completed', 'failed', 'dead', 'cancelled'] as const;

export function addSums(to: MetricsSums, from: MetricsSums): void {
  for (const count of COUNTS) to[count] += from[count];
  to.waits.addAll(from.waits);
  to.runs.addAll(from.runs);
}

/** The row without the attempts of an earlier one. */
export function subtractSums(row: MetricsRow, earlier: MetricsSums): MetricsRow {
  const rest = { ...row, waits: row.waits.without(earlier.waits), runs: row.runs.without(earlier.runs) };
  for (const count of COUNTS) rest[count] -= earlier[count];
  return rest;
}

export function subtractErrors(row: ErrorsRow, earlier: ErrorCounts): ErrorsRow {
  return { ...row, failed: row.failed - earlier.failed, dead: row.dead - earlier.dead };
}

export function addErrors(to: ErrorCounts, from: ErrorCounts): void {
  to.failed += from.failed;
  to.dead += from.dead;
  to.firstAtMs = Math.min(to.firstAtMs, from.firstAtMs);
  to.lastAtMs = Math.max(to.lastAtMs, from.lastAtMs);
  to.jobId = Math.max(to.jobId, from.jobId);
}
