import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import type { Redactor } from '../dashboard/redactor.js';
import { filterAsync } from './board-access.js';
import { groupDeadJobs, MAX_EXAMINED, type DeadGroups } from './dead-groups.js';
import { SharedRead } from './shared-read.js';

const MAX_AGE_MS = 15_000;
const MAX_QUEUES = 50;
const MAX_NAMED = 10;
// The further queues whose right is asked. More would call `can` of the application for thousands.
const MAX_ASKED = 50;
const REREAD_MS = 60_000;

interface KnownGroups {
  readonly groups: DeadGroups;
  /** The number of dead jobs in the statistics at that time. */
  readonly dead: number;
  readonly atMs: number;
}

interface DeadOfAll {
  readonly groups: readonly DeadGroups[];
  /** The further queues with dead jobs, those with the most first. */
  readonly others: readonly string[];
}

/** The dead jobs of all queues by their errors, read for all viewers of this process together, while one shows them. */
export class DeadJobGroups {
  readonly #read: SharedRead<DeadOfAll>;
  #known = new Map<string, KnownGroups>();

  constructor(
    private readonly admin: Pick<QueueAdmin, 'find' | 'stats'>,
    private readonly redactor: Redactor,
    private readonly clock: Pick<Clock, 'monotonic' | 'now'>,
  ) {
    this.#read = new SharedRead(() => this.#readAll(), MAX_AGE_MS, clock);
  }

  /**
   * The groups of the queues that the viewer may read, largest group first. `examined`: the queues whose dead jobs were read,
   * up to `mostPerQueue` of each. `others`: the first further queues with dead jobs. `hasMoreOthers`: there are more of these,
   * or so many that it does not know which of them the viewer may read.
   */
  async read(mayRead: (queue: string) => Promise<boolean>) {
    const all = await this.#read.read();
    const readable = await filterAsync(all.groups, ({ queue }) => mayRead(queue));
    const groups = readable.flatMap(({ queue, hasMore, groups: own }) =>
      own.map((group) => ({ queue, hasMore, ...group })),
    );
    const others = await filterAsync(all.others.slice(0, MAX_ASKED), mayRead);
    return {
      groups: groups.sort((a, b) => b.count - a.count),
      ...{ examined: readable.map(({ queue }) => queue), mostPerQueue: MAX_EXAMINED },
      others: others.slice(0, MAX_NAMED),
      hasMoreOthers: others.length > MAX_NAMED || all.others.length > MAX_ASKED,
    };
  }

  /** The next call reads anew. */
  clear(): void {
    this.#read.clear();
    this.#known.clear();
  }

  /** The 50 queues with the most dead jobs. A queue whose number of dead jobs stays is read once a minute. */
  async #readAll(): Promise<DeadOfAll> {
    const withDead = (await this.admin.stats()).filter(({ dead }) => dead.value > 0);
    withDead.sort((a, b) => b.dead.value - a.dead.value);
    const some = withDead.slice(0, MAX_QUEUES);
    const known = new Map<string, KnownGroups>();
    // One after the other, because the connections belong to the application.
    for (const { queue, dead } of some) {
      const last = this.#known.get(queue);
      const isCurrent = last?.dead === dead.value && this.clock.monotonic() - last.atMs < REREAD_MS;
      known.set(queue, isCurrent ? last : await this.#readOne(queue, dead.value));
    }
    this.#known = known;
    return {
      groups: [...known.values()].map(({ groups }) => groups),
      others: withDead.slice(MAX_QUEUES).map(({ queue }) => queue),
    };
  }

  async #readOne(queue: string, dead: number): Promise<KnownGroups> {
    const atMs = this.clock.monotonic();
    return { groups: await groupDeadJobs(this.admin, this.redactor, queue), dead, atMs };
  }
}
