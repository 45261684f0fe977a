import type { AuditTrail } from '../audit/audit-trail.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import { DEFAULT_JOB_NAME, isName, isWhole, NAME_EXPECTED } from '../job/identifiers.js';
import { managerOf } from '../job/option-schema.js';
import type { QueueName } from '../job/queue-jobs.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { resolveScheduleTimes, type ScheduleOptions, type ScheduleTimes } from '../job/schedules/schedule-options.js';
import { nextTick } from '../job/schedules/ticks.js';
import type { CallerTransaction, JobStore } from '../store/verbs/job-store.js';
import type { ScheduleRecord, ScheduleStore, TickJob } from '../store/features/schedules/schedule-store.js';
import { buildSchedule } from './build-schedule.js';

/** A schedule of QueueSchedules. */
export interface ScheduleDefinition extends ScheduleOptions {
  queue: QueueName;
  /** The name of each job, which selects the @JobHandler. Default `default`. */
  jobName?: string;
}

export interface ScheduleTransaction {
  /**
   * The entity manager or query runner of your open transaction. The change exists only if that transaction commits.
   * Until then other transactions wait for the schedule.
   */
  manager?: CallerTransaction;
}

export interface QueueSchedulesParts {
  readonly audit: AuditTrail;
  readonly store: ScheduleStore;
  readonly jobs: Pick<JobStore, 'afterCommit'>;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  readonly notifier: { wake(queue: string, jobs: number): void; expectAt(queue: string, time: number): void };
  readonly emitEnqueued: (job: TickJob) => void;
  readonly now: () => Date;
}

const MAX_PREVIEW = 1_000;

/**
 * Stores and controls schedules at run time, in every process that uses the database. Some worker must run: workers
 * enqueue the jobs of due ticks, whatever queues they work. Calls reject with InvalidOptionsError before any SQL, and with
 * StoreUnavailableError if the database is unavailable.
 *
 * @example
 * ```ts
 * await schedules.upsert(`report:${tenant.id}`, {
 *   queue: 'report.build', cron: '0 3 * * *', tz: tenant.timeZone, payload: { tenant: tenant.id },
 * }, { manager });
 * ```
 */
export class QueueSchedules {
  readonly #parts: QueueSchedulesParts;

  /** @internal Nest injects it. */
  constructor(parts: QueueSchedulesParts) {
    this.#parts = parts;
  }

  /**
   * The same verbs in the name of a person or a program: each change by them stands in `QueueAdmin.audit` with this name.
   *
   * @param author 1 to 255 characters
   */
  as(author: string): QueueSchedules {
    return new QueueSchedules({ ...this.#parts, audit: this.#parts.audit.as(author) });
  }

  /**
   * Creates or replaces the schedule of this name. A schedule whose `cron`, `every`, `tz` and `until` are the same keeps
   * its next tick, and a paused one stays paused.
   *
   * @returns the next tick; null if the schedule is paused or has ended
   * @throws InvalidOptionsError, PayloadInvalidError or PayloadTooLargeError if the definition is invalid
   * @throws ScheduleConflictError if @Schedule() declares the name
   */
  async upsert(
    name: string,
    definition: ScheduleDefinition,
    transaction: ScheduleTransaction = {},
  ): Promise<Date | null> {
    const manager = managerOf('Schedule', transaction);
    const { store, audit, jobs, optionsFor } = this.#parts;
    const { queue, jobName = DEFAULT_JOB_NAME } = definition ?? {};
    const also = ['queue', 'jobName'];
    const schedule = await buildSchedule(name, { queue, name: jobName }, definition, optionsFor, also);
    const options = { queue, jobName, ...timesOf(definition) };
    const call = { verb: 'schedule.upsert', which: name, options, queue } as const;
    const nextAtMs = await audit.within(manager).change(call, (change) => store.upsert(schedule, change));
    jobs.afterCommit(manager, () => this.#expectTick(queue, nextAtMs));
    return nextAtMs === null ? null : new Date(nextAtMs);
  }

  /**
   * Deletes the schedule. Its jobs stay.
   *
   * @returns whether it existed
   * @throws ScheduleConflictError if @Schedule() declares the name: a worker would declare it again
   */
  async remove(name: string, transaction: ScheduleTransaction = {}): Promise<boolean> {
    const manager = managerOf('Schedule', transaction);
    checkName(name);
    const { store, audit } = this.#parts;
    const call = { verb: 'schedule.remove', which: name } as const;
    return audit.within(manager).change(call, (change) => store.remove(name, change));
  }

  /**
   * The schedule has no ticks until `resume()`, in any process. Also for schedules of @Schedule(): deployments do not end
   * the pause.
   *
   * @throws ScheduleNotFoundError
   */
  async pause(name: string, transaction: ScheduleTransaction = {}): Promise<void> {
    await this.#setPaused(name, true, transaction);
  }

  /**
   * Ends a pause. The ticks of the pause are left out, whatever `missed` says.
   *
   * @throws ScheduleNotFoundError
   */
  async resume(name: string, transaction: ScheduleTransaction = {}): Promise<void> {
    await this.#setPaused(name, false, transaction);
  }

  /**
   * Enqueues a job of the schedule now, also if it is paused. Its ticks are unchanged.
   *
   * @returns the id of the job
   * @throws ScheduleNotFoundError
   */
  async runNow(name: string, transaction: ScheduleTransaction = {}): Promise<number> {
    const manager = managerOf('Schedule', transaction);
    checkName(name);
    const { store, audit, jobs, notifier, emitEnqueued } = this.#parts;
    const call = { verb: 'schedule.runNow', which: name } as const;
    const job = await audit.within(manager).change(call, (change) => store.runNow(name, change));
    jobs.afterCommit(manager, () => {
      emitEnqueued(job);
      notifier.wake(job.queue, 1);
    });
    return job.id;
  }

  /** Null if there is no such schedule. */
  async get(name: string): Promise<ScheduleRecord | null> {
    checkName(name);
    return this.#parts.store.get(name);
  }

  /** All schedules by name, those of @Schedule() included. */
  list(): Promise<ScheduleRecord[]> {
    return this.#parts.store.list();
  }

  /**
   * The next ticks of a schedule that need not exist, without jitter.
   *
   * @param count 1 to 1,000; default 5
   * @param from ticks are later than this; default: now, by the clock of this process
   */
  preview(times: ScheduleTimes, count = 5, from: Date = this.#parts.now()): Date[] {
    const timing = resolveScheduleTimes('preview', times, []);
    InvalidOptionsError.throwIfAny('Cannot preview', [
      expected(isWhole(count, 1, MAX_PREVIEW), `count to be a whole number from 1 to ${MAX_PREVIEW}`, count),
      expected(from instanceof Date && !Number.isNaN(from.getTime()), 'from to be a Date', from),
    ]);
    const ticks: Date[] = [];
    let tick = nextTick(timing, from.getTime());
    while (tick !== null && ticks.length < count) {
      ticks.push(new Date(tick));
      tick = nextTick(timing, tick);
    }
    return ticks;
  }

  async #setPaused(name: string, paused: boolean, transaction: ScheduleTransaction): Promise<void> {
    const manager = managerOf('Schedule', transaction);
    checkName(name);
    const call = { verb: paused ? 'schedule.pause' : 'schedule.resume', which: name } as const;
    const { store, audit, jobs } = this.#parts;
    const recorded = audit.within(manager);
    const { queue, nextAtMs } = await recorded.change(call, (change) => store.setPaused(name, paused, change));
    jobs.afterCommit(manager, () => this.#expectTick(queue, nextAtMs));
  }

  #expectTick(queue: string, nextAtMs: number | null): void {
    if (nextAtMs !== null) this.#parts.notifier.expectAt(queue, nextAtMs);
  }
}

/** For the audit. */
function timesOf({ cron, every, tz, missed, overlap, jitter, until }: ScheduleTimes): ScheduleTimes {
  return JSON.parse(JSON.stringify({ cron, every, tz, missed, overlap, jitter, until })) as ScheduleTimes;
}

function checkName(name: unknown): void {
  InvalidOptionsError.throwIfAny('Schedule', [expected(isName(name), `the name to be ${NAME_EXPECTED}`, name)]);
}
