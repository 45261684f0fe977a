import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import type { Redactor } from '../dashboard/redactor.js';
import { groupDeadJobs, type DeadGroups } from './dead-groups.js';
import { SharedRead } from './shared-read.js';

const MAX_AGE_MS = 15_000;
const MAX_QUEUES = 50;

/** The dead jobs of all queues by their errors, read for all viewers of this process together. */
export class ErrorGroups {
  readonly #read: SharedRead<DeadGroups[]>;

  constructor(
    private readonly admin: Pick<QueueAdmin, 'find' | 'stats'>,
    private readonly redactor: Redactor,
    private readonly clock: Pick<Clock, 'monotonic' | 'now'>,
  ) {
    this.#read = new SharedRead(() => this.#readAll(), MAX_AGE_MS, clock);
  }

  /** The groups of the queues that the viewer may read, largest group first. */
  async read(mayRead: (queue: string) => Promise<boolean>) {
    const all = await this.#read.read();
    const isReadable = await Promise.all(all.map(({ queue }) => mayRead(queue)));
    const readable = all.filter((_, index) => isReadable[index]);
    const errors = readable.flatMap(({ queue, hasMore, groups }) =>
      groups.map((group) => ({ queue, hasMore, ...group })),
    );
    return { errors: errors.sort((a, b) => b.count - a.count) };
  }

  /** The next call reads anew. */
  clear(): void {
    this.#read.clear();
  }

  /** The 50 queues with the most dead jobs. */
  async #readAll(): Promise<DeadGroups[]> {
    const withDead = (await this.admin.stats()).filter(({ dead }) => dead.value > 0);
    const some = withDead.sort((a, b) => b.dead.value - a.dead.value).slice(0, MAX_QUEUES);
    const all: DeadGroups[] = [];
    // One after the other, because the connections belong to the application.
    for (const { queue } of some) all.push(await groupDeadJobs(this.admin, this.redactor, queue, this.clock.now()));
    return all;
  }
}
