import type { JobLogger } from '../common/job-logger.js';
import type { ClientEvents } from '../events/client-events.js';
import type { NewSchedule } from '../job/schedules/schedule.js';
import { ScheduleConflictError } from '../job/errors.js';
import type { ScheduleStore, TickJob } from '../store/schedules/schedule-store.js';

export interface ScheduleParts {
  readonly store: ScheduleStore;
  /** The schedules from code, by name. Complete before the worker starts. */
  readonly declared: ReadonlyMap<string, NewSchedule>;
  /** Of this program: a schedule is not replaced by an older revision of it. */
  readonly revision: string;
}

export interface ScheduleEffects {
  readonly logger: JobLogger;
  readonly events: Pick<ClientEvents, 'emit'>;
  readonly announce: (queue: string, jobs: number) => void;
}

/** Declares the schedules of the queues that a worker works, and runs the due ticks of schedules. */
export class ScheduleRunner {
  readonly #schedules: readonly NewSchedule[];
  /** The schedules from code that this process runs. It also runs those of QueueSchedules. */
  readonly names: readonly string[];

  constructor(
    private readonly parts: ScheduleParts,
    private readonly effects: ScheduleEffects,
    queues: readonly string[],
  ) {
    this.#schedules = [...parts.declared.values()].filter(({ job }) => queues.includes(job.queue));
    this.names = this.#schedules.map(({ name }) => name);
  }

  declare(): Promise<void> {
    return declareSchedules(this.parts, this.#schedules, this.effects.logger);
  }

  /** Returns the number of jobs. If there are any, the poller polls at once, and finds those that jitter delays. */
  async runTicks(): Promise<number> {
    const { logger, events } = this.effects;
    const { jobs, malformed } = await this.parts.store.runTicks(this.names);
    for (const { name, problem } of malformed)
      logger.error(`Paused the schedule "${name}", because another program wrote it badly: ${problem}.`);
    if (jobs.length > 0) events.emit('enqueued', jobs);
    this.#announce(jobs.filter(({ runAtMs }) => runAtMs === null));
    return jobs.length;
  }

  #announce(waiting: readonly TickJob[]): void {
    const counts = new Map<string, number>();
    for (const { queue } of waiting) counts.set(queue, (counts.get(queue) ?? 0) + 1);
    for (const [queue, count] of counts) this.effects.announce(queue, count);
  }
}

/** @throws ScheduleConflictError if QueueSchedules has stored a schedule of the same name */
export async function declareSchedules(
  { store, revision }: ScheduleParts,
  schedules: readonly NewSchedule[],
  logger: JobLogger,
): Promise<void> {
  if (schedules.length === 0) return;
  const { conflicts, newer } = await store.declare(schedules, revision);
  if (conflicts.length > 0) throw new ScheduleConflictError(conflicts, 'api');
  if (newer.length > 0) {
    logger.log(
      `A newer revision of this program has declared ${newer.map((name) => `"${name}"`).join(', ')} differently. Its ` +
        `schedules stay.`,
    );
  }
}
