import type { ScheduledJobOptions } from '../../../job/schedules/schedule-options.js';
import type { NewSchedule } from '../../../job/schedules/schedule.js';
import type { Change } from '../audit/audit-store.js';

/** A schedule, as QueueSchedules returns it. */
export interface ScheduleRecord {
  name: string;
  queue: string;
  /** The name of its jobs. */
  jobName: string;
  /** The cron expression; null if the schedule has `everyMs`. */
  cron: string | null;
  everyMs: number | null;
  tz: string;
  /** Null if the row has no JSON. */
  payload: unknown;
  /** The options of its jobs that differ from those of the queue, as `upsert` takes them. */
  options: ScheduledJobOptions;
  missed: 'skip' | 'once' | { all: number };
  overlap: 'allow' | 'skip' | 'one-waiting';
  jitterMs: number;
  until: Date | null;
  /** The next tick; null if the schedule is paused or has ended. */
  nextAt: Date | null;
  /** The last tick that enqueued a job, and that job; null without one. */
  lastAt: Date | null;
  lastJobId: number | null;
  isPaused: boolean;
  /** Whether the next tick was due more than a minute ago by the clock of the database: no process has run it. */
  isLate: boolean;
  /** `code`: declared with @Schedule(). `api`: stored by QueueSchedules. */
  source: 'code' | 'api';
  /** The revision of the program that has declared the schedule; null for the source `api`. */
  revision: string | null;
}

/** A job that a tick has enqueued. */
export interface TickJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  /** When it is due; null if it waits already. */
  readonly runAtMs: number | null;
}

export interface TickResult {
  readonly jobs: readonly TickJob[];
  /** Schedules that another program wrote badly. They are paused now. */
  readonly malformed: readonly { readonly name: string; readonly problem: string }[];
  /** Whether further schedules may be due: one call runs the ticks of a limited number of schedules. */
  readonly hasMore: boolean;
}

/** What a declaration has changed. */
export interface DeclarationResult {
  /** Names that QueueSchedules has stored: the code cannot declare them. */
  readonly conflicts: readonly string[];
  /** Names that a newer revision has declared differently: the newer one stays. */
  readonly newer: readonly string[];
}

/** Each verb is atomic. A change without a transaction of the caller is repeated after a lost connection. */
export interface ScheduleStore {
  /**
   * Enqueues the jobs of due ticks, and moves each schedule to its next tick in the same transaction: each tick has
   * exactly one job, however many processes run this verb. Skips schedules that other transactions have locked.
   *
   * @param declared the schedules from code that this process declares. All others are left to their own processes
   */
  runTicks(declared: readonly string[]): Promise<TickResult>;

  /** Stores schedules from code. A schedule keeps its next tick unless its times have changed. */
  declare(schedules: readonly NewSchedule[], revision: string): Promise<DeclarationResult>;

  /**
   * Records that this process still declares the schedules. Writes at most once an hour per schedule. Returns the names of
   * schedules that do not exist: while this process could not reach the database, they were deleted.
   */
  keepDeclared(names: readonly string[]): Promise<string[]>;

  /** Deletes schedules from code that no process has declared for this time. Returns their names. */
  removeUndeclared(afterMs: number): Promise<string[]>;

  /** Returns the next tick. Throws ScheduleConflictError if the schedule is from code. */
  upsert(schedule: NewSchedule, change?: Change): Promise<number | null>;

  /** Returns whether it existed. Throws ScheduleConflictError if the schedule is from code. */
  remove(name: string, change?: Change): Promise<boolean>;

  /** Returns the queue and the next tick. Throws ScheduleNotFoundError. */
  setPaused(
    name: string,
    paused: boolean,
    change?: Change,
  ): Promise<{ readonly queue: string; readonly nextAtMs: number | null }>;

  /** Enqueues a job now. The ticks of the schedule are unchanged. Throws ScheduleNotFoundError. */
  runNow(name: string, change?: Change): Promise<TickJob>;

  /** Null if there is none. */
  get(name: string): Promise<ScheduleRecord | null>;

  /** All schedules by name. */
  list(): Promise<ScheduleRecord[]>;
}
