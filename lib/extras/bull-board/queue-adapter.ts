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
import type { LimitChange } from '../../job/limits/limit-options.js';
import { adminOf, MAY_CREATE, type BullBoardParts } from './bull-board-parts.js';
import { JOB_STATUSES } from './job-statuses.js';
import { QueueReads } from './queue-reads.js';
import { QueueSchedulers } from './queue-schedulers.js';
import { QueueWrites } from './queue-writes.js';
import { Refusal } from '../dashboard/error-status.js';

export interface QueueAdapter extends BaseAdapter {
  readonly writes: QueueWrites;
}

type QueueAdapterClass = new (queue: string, parts: BullBoardParts, readOnlyMode: boolean) => QueueAdapter;

/** The class of the adapters. Its base class belongs to an optional peer, which is loaded at boot. */
export function queueAdapterClass(Base: typeof BaseAdapter): QueueAdapterClass {
  return class SqlQueueAdapter extends Base {
    readonly #reads: QueueReads;
    readonly #schedulers: QueueSchedulers;
    readonly writes: QueueWrites;

    constructor(
      private readonly queue: string,
      private readonly parts: BullBoardParts,
      readOnlyMode: boolean,
    ) {
      // Routes of the type `bullmq` read flows from Redis.
      super('bull', { readOnlyMode });
      this.#reads = new QueueReads(queue, parts);
      this.writes = new QueueWrites(queue, parts);
      this.#schedulers = new QueueSchedulers(queue, parts);
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

    getJobCounts(): Promise<JobCounts> {
      return this.#reads.counts();
    }

    getJobs(statuses: JobStatus[], first?: number, last?: number): Promise<QueueJob[]> {
      return this.#reads.jobs(statuses, first, last);
    }

    getJob(id: string): Promise<QueueJob | null> {
      return this.#reads.job(id);
    }

    getJobLogs(id: string): Promise<string[]> {
      return this.#reads.logs(id);
    }

    getMetrics(type: MetricsType): Promise<QueueMetrics> {
      return this.#reads.metrics(type);
    }

    override getWorkers(): Promise<QueueWorker[]> {
      return this.#reads.workers();
    }

    async getRedisInfo(): Promise<null> {
      return null;
    }

    async isPaused(): Promise<boolean> {
      return (await this.#reads.record())?.paused ?? false;
    }

    pause(): Promise<void> {
      return adminOf(this.parts).pause(this.queue, MAY_CREATE);
    }

    resume(): Promise<void> {
      return adminOf(this.parts).resume(this.queue, MAY_CREATE);
    }

    addJob(name: string, payload: unknown, options: QueueJobOptions): Promise<QueueJob> {
      return this.writes.add(name, payload, options);
    }

    clean(status: string, graceMs: number): Promise<void> {
      return this.writes.clean(status, graceMs);
    }

    empty(): Promise<void> {
      return this.writes.empty();
    }

    async promoteAll(): Promise<void> {
      await adminOf(this.parts).promote({ queue: this.queue, state: 'scheduled' });
    }

    obliterate({ force = false }: ObliterateOptions = {}): Promise<void> {
      return this.writes.obliterate(force);
    }

    getJobSchedulers(): Promise<Omit<AppJobScheduler, 'queueName'>[]> {
      return this.#schedulers.list();
    }

    async getJobSchedulersCount(): Promise<number> {
      return (await this.#schedulers.list()).length;
    }

    removeJobScheduler(name: string): Promise<boolean> {
      return this.#schedulers.remove(name);
    }

    override get supportsJobSchedulerRun(): boolean {
      return true;
    }

    runJobSchedulerNow(name: string): Promise<QueueJob | 'not-found'> {
      return this.#schedulers.run(name);
    }

    /** A stored schedule does not show the options of its jobs, and a new definition would drop them. */
    async updateJobScheduler(): Promise<JobSchedulerUpdateResult> {
      throw new Refusal('bull-board cannot change schedules. Use QueueSchedules.upsert.');
    }

    async getGlobalConcurrency(): Promise<number | null> {
      return (await this.#reads.record())?.maxRunning ?? null;
    }

    setGlobalConcurrency(maxRunning: number): Promise<void> {
      return this.#limit({ maxRunning });
    }

    override get supportsGlobalRateLimit(): boolean {
      return true;
    }

    override async getConfiguredRateLimit(): Promise<QueueRateLimit | null> {
      const rate = (await this.#reads.record())?.rate;
      return rate ? { max: rate.limit, duration: rate.perMs } : null;
    }

    override setConfiguredRateLimit({ max, duration }: QueueRateLimit): Promise<void> {
      return this.#limit({ rate: { limit: max, per: duration } });
    }

    override removeConfiguredRateLimit(): Promise<void> {
      return this.#limit({ rate: false });
    }

    override async getActiveRateLimitTtl(): Promise<number> {
      const restsUntil = (await this.#reads.record())?.restsUntil;
      return restsUntil ? Math.max(0, restsUntil.getTime() - this.parts.clock.now().getTime()) : 0;
    }

    override releaseActiveRateLimit(): Promise<void> {
      return this.#limit({ rest: false });
    }

    #limit(change: LimitChange): Promise<void> {
      return adminOf(this.parts).limit(this.queue, change, MAY_CREATE);
    }
  };
}
