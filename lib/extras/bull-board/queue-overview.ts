import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import { hasCode } from '../../job/errors.js';
import type { QueueSchedules } from '../../schedules/queue-schedules.js';
import { joinedRead } from './joined-read.js';

/** The largest number of jobs that a tab counts as completed, and that its pages list. */
export const MAX_LISTED = 1_000;

const COMPLETED_MAX_AGE_MS = 10_000;

interface CompletedCount {
  readonly atMs: number;
  readonly count: Promise<number>;
}

/** Reads all queues for the pages. bull-board asks for each queue by itself, and these reads are shared. */
export class QueueOverview {
  readonly queues = joinedRead(() => this.admin.queues());
  readonly stats = joinedRead(() => this.admin.stats());
  readonly workers = joinedRead(() => this.admin.workers());
  readonly schedules = joinedRead(() => this.queueSchedules.list());

  readonly #completed = new Map<string, CompletedCount>();
  #counting: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly admin: QueueAdmin,
    private readonly queueSchedules: QueueSchedules,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  /** The completed jobs of the queue, which the statistics do not have: at most 1,000, counted every 10 seconds. */
  completed(queue: string): Promise<number> {
    const now = this.clock.monotonic();
    const known = this.#completed.get(queue);
    if (known && now - known.atMs < COMPLETED_MAX_AGE_MS) return known.count;
    const count = this.#countNext(queue);
    this.#completed.set(queue, { atMs: now, count });
    count.catch(() => this.forget(queue));
    return count;
  }

  /** After a change of completed jobs, the next read counts again. */
  forget(queue: string): void {
    this.#completed.delete(queue);
  }

  /** Counts one queue after the other, because the connections belong to the application. */
  #countNext(queue: string): Promise<number> {
    const count = async () => {
      try {
        return await this.admin.remove({ queue, state: 'completed' }, { dryRun: true, limit: MAX_LISTED });
      } catch (error) {
        // A queue that the options name may have no job so far.
        if (hasCode(error, 'QUEUE_NOT_FOUND')) return 0;
        throw error;
      }
    };
    const counted = this.#counting.then(count, count);
    this.#counting = counted.catch(() => undefined);
    return counted;
  }
}
