import type { AppJobScheduler, QueueJob } from '@bull-board/api/typings/app';
import type { ScheduleRecord } from '../../store/features/schedules/schedule-store.js';
import type { Redactor } from '../dashboard/redactor.js';
import type { QueueSchedules } from '../../schedules/queue-schedules.js';
import type { BullBoardParts } from './bull-board-parts.js';
import { BullJob } from './bull-job.js';

type Scheduler = Omit<AppJobScheduler, 'queueName'>;

/** The schedules of one queue, which bull-board calls job schedulers. */
export class QueueSchedulers {
  constructor(
    private readonly queue: string,
    private readonly parts: BullBoardParts,
  ) {}

  async list(): Promise<Scheduler[]> {
    const schedules = await this.parts.overview.schedules();
    return schedules
      .filter(({ queue }) => queue === this.queue)
      .map((record) => schedulerOf(record, this.parts.redactor));
  }

  /** Rejects for a schedule from code: a worker would declare it again. */
  async remove(name: string): Promise<boolean> {
    return (await this.#isOfQueue(name)) && this.#schedules.remove(name);
  }

  async run(name: string): Promise<QueueJob | 'not-found'> {
    if (!(await this.#isOfQueue(name))) return 'not-found';
    const job = await this.parts.admin.get(await this.#schedules.runNow(name));
    return job ? new BullJob(job, this.parts) : 'not-found';
  }

  async #isOfQueue(name: string): Promise<boolean> {
    return (await this.parts.schedules.get(name))?.queue === this.queue;
  }

  get #schedules(): QueueSchedules {
    return this.parts.schedules.as(this.parts.user.name);
  }
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
