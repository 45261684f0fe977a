import type { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js';
import type {
  AppJobScheduler,
  JobCounts,
  JobSchedulerUpdateResult,
  JobStatus,
  MetricsType,
  ObliterateOptions,
  QueueJob,
  QueueJobOptions,
  QueueMetrics,
  QueueRateLimit,
  QueueWorker,
  Status,
} from '@bull-board/api/typings/app';
import type { QueueRecord } from '../../store/features/queues/queue-store.js';
import type { ScheduleRecord } from '../../store/features/schedules/schedule-store.js';
import type { QueueStats } from '../../store/features/stats/stats-store.js';
import { cutAt, type Redactor } from '../dashboard/redactor.js';
import { contextOf } from '../dashboard/shown-error.js';
import type { JobRecord } from '../../job/job.js';
import type { LimitChange } from '../../job/limits/limit-options.js';
import type { QueueSchedules } from '../../schedules/queue-schedules.js';
import { adminOf, MAY_CREATE, type BullBoardParts } from './bull-board-parts.js';
import { BullJob, refuseHidden } from './bull-job.js';
import { JOB_STATUSES, stateOf } from './job-statuses.js';
import { listJobs } from './list-jobs.js';
import { Refusal } from '../dashboard/error-status.js';

const MAX_LINES = 1_000;
const MAX_LINE_BYTES = 2_000;
const METRICS_MINUTES = 60;
const MINUTE_MS = 60_000;
/** Jobs up to this number are counted for a message. */
const MAX_COUNTED = 1_000;
/** The text by which bull-board recognizes this refusal. */
const HAS_ACTIVE_JOBS = 'Cannot obliterate queue with active jobs';

export interface QueueAdapter extends BaseAdapter {
  /** @returns the number of jobs that started anew */
  retryAll(status: string): Promise<number>;
}

type QueueAdapterClass = new (queue: string, parts: BullBoardParts, readOnlyMode: boolean) => QueueAdapter;
type Scheduler = Omit<AppJobScheduler, 'queueName'>;

/** The class of the adapters. Its base class belongs to an optional peer, which is loaded at boot. */
export function queueAdapterClass(Base: typeof BaseAdapter): QueueAdapterClass {
  return class SqlQueueAdapter extends Base {
    constructor(
      private readonly queue: string,
      private readonly parts: BullBoardParts,
      readOnlyMode: boolean,
    ) {
      // Routes of the type `bullmq` read flows from Redis.
      super('bull', { readOnlyMode });
    }

    getName(): string {
      return this.queue;
    }

    getStatuses(): Status[] {
      return ['latest', ...JOB_STATUSES];
    }

    getJobStatuses(): JobStatus[] {
      return JOB_STATUSES;
    }

    /** From the last sample, up to 10,000 jobs per state, or 1,000 completed ones. */
    async getJobCounts(): Promise<JobCounts> {
      const { overview } = this.parts;
      const [stats, completed] = await Promise.all([this.#stats(), overview.completed(this.queue)]);
      const counts = {
        active: stats ? stats.active + stats.prefetched : 0,
        waiting: stats ? stats.waiting.value + stats.staged.value : 0,
        'waiting-children': stats?.blocked.value ?? 0,
        failed: stats?.dead.value ?? 0,
        delayed: stats?.scheduled.value ?? 0,
      };
      return { latest: 0, paused: 0, prioritized: 0, ...counts, completed };
    }

    async getJobs(statuses: JobStatus[], first = 0, last = 19): Promise<QueueJob[]> {
      const jobs: JobRecord[] = [];
      for (const status of statuses) {
        jobs.push(...(await listJobs(this.parts.admin, this.queue, stateOf(status), first, last)));
      }
      return jobs.map((job) => new BullJob(job, this.parts));
    }

    async getJob(id: string): Promise<QueueJob | null> {
      const job = await this.#find(id);
      return job && new BullJob(job, this.parts);
    }

    /** The last 1,000 lines, oldest first. */
    async getJobLogs(id: string): Promise<string[]> {
      const job = await this.#find(id);
      if (!job) throw new Refusal(`Job ${id.slice(0, 20)} of queue "${this.queue}" does not exist.`, 404);
      const { lines } = await this.parts.admin.logs(job.id, { limit: MAX_LINES, order: 'newest' });
      const shown = (line: string) =>
        cutAt(String(this.parts.redactor.redact(line, contextOf(job, 'log'))), MAX_LINE_BYTES);
      return lines.map(({ at, line }) => `${at.toISOString()} ${shown(line)}`).reverse();
    }

    /** The attempts of each of the last 60 minutes, newest first. */
    async getMetrics(type: MetricsType): Promise<QueueMetrics> {
      const points = await this.parts.admin.history(this.queue, { step: 'minute' });
      const now = this.parts.clock.now().getTime();
      const data = Array.from({ length: METRICS_MINUTES }, () => 0);
      for (const { at, step, ...point } of points) {
        const index = Math.floor(now / MINUTE_MS) - Math.floor(at.getTime() / MINUTE_MS);
        if (step === 'minute' && index >= 0 && index < METRICS_MINUTES) data[index] = point[type];
      }
      const count = data.reduce((sum, each) => sum + each, 0);
      return { meta: { count, prevTS: now, prevCount: count }, data, count: data.length };
    }

    override async getWorkers(): Promise<QueueWorker[]> {
      return (await this.parts.overview.workers())
        .filter(({ isSilent, queues }) => !isSilent && queues.some(({ queue }) => queue === this.queue))
        .map(({ id, host, pid, startedAt, seenAt }) => ({
          ...{ id, name: `${host}, process ${pid}`, addr: host },
          age: Math.max(0, Math.round((seenAt.getTime() - startedAt.getTime()) / 1_000)),
        }));
    }

    async getRedisInfo(): Promise<null> {
      return null;
    }

    async isPaused(): Promise<boolean> {
      return (await this.#record())?.paused ?? false;
    }

    pause(): Promise<void> {
      return adminOf(this.parts).pause(this.queue, MAY_CREATE);
    }

    resume(): Promise<void> {
      return adminOf(this.parts).resume(this.queue, MAY_CREATE);
    }

    async addJob(name: string, payload: unknown, { attempts, ...options }: QueueJobOptions): Promise<QueueJob> {
      refuseHidden(payload);
      const { id } = await adminOf(this.parts).enqueue(this.queue, payload, {
        ...options,
        ...(name !== '' && { name }),
        ...(attempts !== undefined && { retry: attempts }),
        ...MAY_CREATE,
      });
      const job = await this.parts.admin.get(id);
      if (!job) throw new Refusal(`Job ${id} was enqueued, and has ended without a trace.`);
      return new BullJob(job, this.parts);
    }

    async retryAll(status: string): Promise<number> {
      const state = stateOf(status);
      const retried = await adminOf(this.parts).retry({ queue: this.queue, state });
      this.parts.overview.forget(this.queue);
      if (state === 'dead') await this.#reportUnrecoverable(retried);
      return retried;
    }

    async clean(status: string, graceMs: number): Promise<void> {
      const state = stateOf(status);
      if (state === 'active') throw new Refusal('Active jobs cannot be removed. Release or cancel them first.');
      const isFinished = state === 'completed' || state === 'dead';
      const finishedBefore = new Date(this.parts.clock.now().getTime() - graceMs);
      await adminOf(this.parts).remove({ queue: this.queue, state, ...(isFinished && { finishedBefore }) });
      this.parts.overview.forget(this.queue);
    }

    /** Removes the jobs that have not started. */
    async empty(): Promise<void> {
      for (const state of ['waiting', 'scheduled', 'blocked'] as const)
        await adminOf(this.parts).remove({ queue: this.queue, state });
    }

    async promoteAll(): Promise<void> {
      await adminOf(this.parts).promote({ queue: this.queue, state: 'scheduled' });
    }

    async obliterate({ force = false }: ObliterateOptions = {}): Promise<void> {
      if (!force) {
        const { jobs } = await this.parts.admin.find({ queue: this.queue, state: 'active' }, { limit: 1 });
        if (jobs.length > 0) throw new Refusal(HAS_ACTIVE_JOBS);
      }
      await adminOf(this.parts).obliterate(this.queue, { confirm: this.queue });
      this.parts.overview.forget(this.queue);
    }

    async getJobSchedulers(): Promise<Scheduler[]> {
      const schedules = await this.parts.overview.schedules();
      return schedules
        .filter(({ queue }) => queue === this.queue)
        .map((record) => schedulerOf(record, this.parts.redactor));
    }

    async getJobSchedulersCount(): Promise<number> {
      return (await this.getJobSchedulers()).length;
    }

    /** Rejects for a schedule from code: a worker would declare it again. */
    async removeJobScheduler(name: string): Promise<boolean> {
      return (await this.#hasSchedule(name)) && this.#schedules.remove(name);
    }

    override get supportsJobSchedulerRun(): boolean {
      return true;
    }

    async runJobSchedulerNow(name: string): Promise<QueueJob | 'not-found'> {
      if (!(await this.#hasSchedule(name))) return 'not-found';
      const job = await this.parts.admin.get(await this.#schedules.runNow(name));
      return job ? new BullJob(job, this.parts) : 'not-found';
    }

    /** A stored schedule does not show the options of its jobs, and a new definition would drop them. */
    async updateJobScheduler(): Promise<JobSchedulerUpdateResult> {
      throw new Refusal('bull-board cannot change schedules. Use QueueSchedules.upsert.');
    }

    async getGlobalConcurrency(): Promise<number | null> {
      return (await this.#record())?.maxRunning ?? null;
    }

    setGlobalConcurrency(maxRunning: number): Promise<void> {
      return this.#limit({ maxRunning });
    }

    override get supportsGlobalRateLimit(): boolean {
      return true;
    }

    override async getConfiguredRateLimit(): Promise<QueueRateLimit | null> {
      const rate = (await this.#record())?.rate;
      return rate ? { max: rate.limit, duration: rate.perMs } : null;
    }

    override setConfiguredRateLimit({ max, duration }: QueueRateLimit): Promise<void> {
      return this.#limit({ rate: { limit: max, per: duration } });
    }

    override removeConfiguredRateLimit(): Promise<void> {
      return this.#limit({ rate: false });
    }

    override async getActiveRateLimitTtl(): Promise<number> {
      const restsUntil = (await this.#record())?.restsUntil;
      return restsUntil ? Math.max(0, restsUntil.getTime() - this.parts.clock.now().getTime()) : 0;
    }

    override releaseActiveRateLimit(): Promise<void> {
      return this.#limit({ rest: false });
    }

    #limit(change: LimitChange): Promise<void> {
      return adminOf(this.parts).limit(this.queue, change, MAY_CREATE);
    }

    async #find(id: string): Promise<JobRecord | null> {
      if (!/^[1-9]\d{0,15}$/.test(id) || !Number.isSafeInteger(Number(id))) return null;
      const job = await this.parts.admin.get(Number(id));
      return job?.queue === this.queue ? job : null;
    }

    /** Undefined if the queue has had no job and no worker. */
    async #record(): Promise<QueueRecord | undefined> {
      return (await this.parts.overview.queues()).find(({ queue }) => queue === this.queue);
    }

    async #stats(): Promise<QueueStats | undefined> {
      return (await this.parts.overview.stats()).find(({ queue }) => queue === this.queue);
    }

    async #hasSchedule(name: string): Promise<boolean> {
      return (await this.parts.schedules.get(name))?.queue === this.queue;
    }

    get #schedules(): QueueSchedules {
      return this.parts.schedules.as(this.parts.user.name);
    }

    /** bull-board would say that all jobs have started. */
    async #reportUnrecoverable(retried: number): Promise<void> {
      const filter = { queue: this.queue, state: 'dead', error: 'UNRECOVERABLE' } as const;
      const left = await this.parts.admin.remove(filter, { dryRun: true, limit: MAX_COUNTED });
      if (left === 0) return;
      const atLeast = left === MAX_COUNTED ? ' or more' : '';
      throw new Refusal(
        `${retried} jobs were retried. ${left}${atLeast} jobs stay dead, because they were discarded or failed with ` +
          `an UnrecoverableError. Retry each of them alone.`,
      );
    }
  };
}

function schedulerOf(record: ScheduleRecord, redactor: Redactor): Scheduler {
  const { name, jobName, queue, cron, everyMs, tz, until, nextAt, lastAt, lastJobId, payload } = record;
  const { missed, overlap, jitterMs, isPaused, source } = record;
  return {
    ...{ id: name, name: jobName, tz },
    ...(cron !== null && { pattern: cron }),
    ...(everyMs !== null && { every: everyMs }),
    ...(until && { endDate: until.getTime() }),
    ...(nextAt && { next: nextAt.getTime() }),
    ...(lastAt && { lastRun: lastAt.getTime() }),
    ...(lastJobId !== null && { lastRunJobId: String(lastJobId) }),
    template: {
      ...(payload !== undefined && { data: redactor.redact(payload, { queue, name: jobName, what: 'payload' }) }),
      opts: { missed, overlap, jitterMs, isPaused, source },
    },
  };
}
