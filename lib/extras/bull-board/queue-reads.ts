import type {
  JobCounts,
  JobStatus,
  MetricsType,
  QueueJob,
  QueueMetrics,
  QueueWorker,
} from '@bull-board/api/typings/app';
import type { QueueRecord } from '../../store/features/queues/queue-store.js';
import type { QueueStats } from '../../store/features/stats/stats-store.js';
import { cutAt } from '../dashboard/redactor.js';
import { contextOf } from '../dashboard/shown-error.js';
import type { JobRecord } from '../../job/job.js';
import type { BullBoardParts } from './bull-board-parts.js';
import { BullJob } from './bull-job.js';
import { stateOf } from './job-statuses.js';
import { listJobs } from './list-jobs.js';
import { Refusal } from '../dashboard/error-status.js';

const MAX_LINES = 1_000;
const MAX_LINE_BYTES = 2_000;
const METRICS_MINUTES = 60;
const MINUTE_MS = 60_000;

/** The reads of one queue. */
export class QueueReads {
  constructor(
    private readonly queue: string,
    private readonly parts: BullBoardParts,
  ) {}

  /** From the last sample, up to 10,000 jobs per state, or 1,000 completed ones. */
  async counts(): Promise<JobCounts> {
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

  async jobs(statuses: readonly JobStatus[], first = 0, last = 19): Promise<QueueJob[]> {
    const jobs: JobRecord[] = [];
    for (const status of statuses) {
      jobs.push(...(await listJobs(this.parts.admin, this.queue, stateOf(status), first, last)));
    }
    return jobs.map((job) => new BullJob(job, this.parts));
  }

  async job(id: string): Promise<QueueJob | null> {
    const job = await this.#find(id);
    return job && new BullJob(job, this.parts);
  }

  /** The last 1,000 lines, oldest first. */
  async logs(id: string): Promise<string[]> {
    const job = await this.#find(id);
    if (!job) throw new Refusal(`Job ${id.slice(0, 20)} of queue "${this.queue}" does not exist.`, 404);
    const { lines } = await this.parts.admin.logs(job.id, { limit: MAX_LINES, order: 'newest' });
    const shown = (line: string) =>
      cutAt(String(this.parts.redactor.redact(line, contextOf(job, 'log'))), MAX_LINE_BYTES);
    return lines.map(({ at, line }) => `${at.toISOString()} ${shown(line)}`).reverse();
  }

  /** The attempts of each of the last 60 minutes, newest first. */
  async metrics(type: MetricsType): Promise<QueueMetrics> {
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

  async workers(): Promise<QueueWorker[]> {
    return (await this.parts.overview.workers())
      .filter(({ isSilent, queues }) => !isSilent && queues.some(({ queue }) => queue === this.queue))
      .map(({ id, host, pid, startedAt, seenAt }) => ({
        ...{ id, name: `${host}, process ${pid}`, addr: host },
        age: Math.max(0, Math.round((seenAt.getTime() - startedAt.getTime()) / 1_000)),
      }));
  }

  /** Undefined if the queue has had no job and no worker. */
  async record(): Promise<QueueRecord | undefined> {
    return (await this.parts.overview.queues()).find(({ queue }) => queue === this.queue);
  }

  async #find(id: string): Promise<JobRecord | null> {
    if (!/^[1-9]\d{0,15}$/.test(id) || !Number.isSafeInteger(Number(id))) return null;
    const job = await this.parts.admin.get(Number(id));
    return job?.queue === this.queue ? job : null;
  }

  async #stats(): Promise<QueueStats | undefined> {
    return (await this.parts.overview.stats()).find(({ queue }) => queue === this.queue);
  }
}
