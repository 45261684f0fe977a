import type { JobLogger } from '../../common/logger.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { ChosenStrategy, JobStore } from '../../store/verbs/job-store.js';

/** The claim strategy of each queue of a worker. */
export class QueueStrategies {
  readonly #chosen = new Map<string, ChosenStrategy>();

  constructor(
    private readonly store: JobStore,
    private readonly logger: JobLogger,
    private readonly optionsFor: (queue: string) => ResolvedQueueOptions,
  ) {}

  /** Rejects if the database does not support the requested strategy of a queue. */
  async choose(queues: readonly string[]): Promise<void> {
    const requested = new Map(queues.map((queue) => [queue, this.optionsFor(queue).claim]));
    const chosen = await this.store.chooseStrategies(requested);
    if (chosen.notice !== undefined) this.logger.warn(chosen.notice);
    for (const [queue, strategy] of chosen.byQueue) this.#chosen.set(queue, strategy);
  }

  /** The strategy of a queue for which one was chosen. */
  of(queue: string): ChosenStrategy {
    return this.#chosen.get(queue)!;
  }

  isByLock(queue: string): boolean {
    return this.#chosen.get(queue)?.name === 'lock';
  }

  get queuesByLock(): string[] {
    return [...this.#chosen.keys()].filter((queue) => this.isByLock(queue));
  }

  delete(queue: string): void {
    this.#chosen.delete(queue);
  }
}
