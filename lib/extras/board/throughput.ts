import type { MetricsPoint } from '../../admin/read-history.js';
import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import { SharedRead } from './shared-read.js';

const MAX_AGE_MS = 60_000;
const MAX_QUEUES = 200;
const MINUTES = 60;

interface QueueThroughput {
  readonly queue: string;
  /** Completed attempts of each of the last 60 minutes, oldest first. */
  readonly completed: readonly number[];
  readonly failed: readonly number[];
}

/** The attempts of all queues in the last hour. Read at most once a minute, for all viewers of this process. */
export class Throughput {
  readonly #attempts: SharedRead<QueueThroughput[]>;

  constructor(
    private readonly admin: Pick<QueueAdmin, 'queues' | 'histories'>,
    private readonly clock: Pick<Clock, 'monotonic' | 'now'>,
  ) {
    this.#attempts = new SharedRead(() => this.#readAll(), MAX_AGE_MS, clock);
  }

  /** At most the first 200 queues. */
  lastHour(): Promise<QueueThroughput[]> {
    return this.#attempts.read();
  }

  async #readAll(): Promise<QueueThroughput[]> {
    const queues = (await this.admin.queues()).slice(0, MAX_QUEUES).map(({ queue }) => queue);
    const histories = await this.admin.histories(queues, { step: 'minute' });
    return queues.map((queue) => this.#toThroughput(queue, histories.get(queue)!));
  }

  #toThroughput(queue: string, points: readonly MetricsPoint[]): QueueThroughput {
    const lastMinute = Math.floor(this.clock.now().getTime() / 60_000);
    const completed = Array.from({ length: MINUTES }, () => 0);
    const failed = Array.from({ length: MINUTES }, () => 0);
    for (const point of points) {
      const index = MINUTES - 1 - (lastMinute - Math.floor(point.at.getTime() / 60_000));
      if (point.step !== 'minute' || index < 0 || index >= MINUTES) continue;
      completed[index] = point.completed;
      failed[index] = point.failed;
    }
    return { queue, completed, failed };
  }
}
