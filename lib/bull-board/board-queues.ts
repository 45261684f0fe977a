import type { QueueOverview } from './queue-overview.js';
import type { QueueAdapter } from './queue-adapter.js';

/** The queues on bull-board: those of the options, or all of the database. */
export class BoardQueues {
  readonly #adapters = new Map<string, QueueAdapter>();

  constructor(
    private readonly names: readonly string[] | undefined,
    private readonly overview: Pick<QueueOverview, 'queues'>,
    private readonly create: (queue: string) => QueueAdapter,
  ) {}

  get(queue: string): QueueAdapter | undefined {
    return this.#adapters.get(queue);
  }

  /** The adapters of all queues that exist now. */
  async refresh(): Promise<QueueAdapter[]> {
    const names = this.names ?? (await this.overview.queues()).map(({ queue }) => queue);
    const kept = new Set(names);
    for (const queue of this.#adapters.keys()) if (!kept.has(queue)) this.#adapters.delete(queue);
    return names.map((queue) => this.#adapterOf(queue));
  }

  #adapterOf(queue: string): QueueAdapter {
    const known = this.#adapters.get(queue);
    if (known) return known;
    const adapter = this.create(queue);
    this.#adapters.set(queue, adapter);
    return adapter;
  }
}
