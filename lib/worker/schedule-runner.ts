import { groupBy } from '../common/lists.js';
import type { NewSchedule } from '../job/schedules/schedule.js';
import { ScheduleConflictError } from '../job/errors.js';
import type { WorkerParts } from './worker-parts.js';

/** Declares the schedules of the queues that a worker works, and runs the due ticks of schedules. */
export class ScheduleRunner {
  readonly #declared: readonly NewSchedule[];
  /** The schedules from code that this process runs. It also runs those of QueueSchedules. */
  readonly names: readonly string[];

  constructor(
    private readonly parts: WorkerParts,
    queues: readonly string[],
    private readonly announce: (queue: string, jobs: number) => void,
  ) {
    this.#declared = [...parts.codeSchedules.declared.values()].filter(({ job }) => queues.includes(job.queue));
    this.names = this.#declared.map(({ name }) => name);
  }

  /** @throws ScheduleConflictError if QueueSchedules has stored a schedule of the same name */
  async declare(): Promise<void> {
    if (this.#declared.length === 0) return;
    const { stores, codeSchedules, logger } = this.parts;
    const { conflicts, newer } = await stores.schedules.declare(this.#declared, codeSchedules.revision);
    if (conflicts.length > 0) throw new ScheduleConflictError(conflicts, 'api');
    if (newer.length > 0) {
      logger.log(
        `A newer revision of this program has declared ${newer.map((name) => `"${name}"`).join(', ')} differently. Its ` +
          `schedules stay.`,
      );
    }
  }

  /**
   * Returns whether there is more to find: further due schedules, or jobs. The poller polls at once then, and also finds
   * the jobs that jitter delays.
   */
  async runTicks(): Promise<boolean> {
    const { stores, events, logger } = this.parts;
    const { jobs, malformed, hasMore } = await stores.schedules.runTicks(this.names);
    for (const { name, problem } of malformed)
      logger.error(`Paused the schedule "${name}", because another program wrote it badly: ${problem}.`);
    if (jobs.length > 0) events.emitChanges('enqueued', jobs);
    const waiting = jobs.filter(({ runAtMs }) => runAtMs === null);
    for (const [queue, { length }] of groupBy(waiting, (job) => job.queue)) this.announce(queue, length);
    return hasMore || jobs.length > 0;
  }
}
