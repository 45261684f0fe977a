import type { ChosenStrategy } from '../../store/jobs/job-store.js';
import type { WorkerParts } from '../worker-parts.js';

/** The claim strategy of each queue of a worker. */
export class QueueStrategies {
  readonly #chosen = new Map<string, ChosenStrategy>();

  constructor(private readonly parts: Pick<WorkerParts, 'store' | 'logger' | 'optionsFor'>) {}

  /** Rejects if the database does not support the requested strategy of a queue. */
  async choose(queues: readonly string[]): Promise<void> {
    const { store, logger, optionsFor } = this.parts;
    const chosen = await store.chooseStrategies(new Map(queues.map((queue) => [queue, optionsFor(queue).claim])));
    if (chosen.notice !== undefined) logger.warn(chosen.notice);
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
