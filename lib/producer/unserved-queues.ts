import { inRootContext } from '../common/async-context.js';
import type { Clock } from '../common/clock.js';
import type { JobLogger } from '../common/logger.js';
import { didYouMean } from '../common/message-text.js';
import { hasCode } from '../job/errors.js';
import type { QueueStore } from '../store/features/queues/queue-store.js';

const LOOK_INTERVAL_MS = 30_000;
const LOOKS = 2;
// A process that names more queues makes their names from data. They are no misspelt constants.
const MAX_QUEUES = 500;

export interface UnservedQueuesParts {
  readonly store: Pick<QueueStore, 'readService'>;
  readonly expectsWorker: (queue: string) => boolean;
  readonly isServedHere: (queue: string) => boolean;
  readonly clock: Clock;
  readonly logger: JobLogger;
}

/**
 * Warns once of each queue into which this process enqueues, and which no worker of any process has served for a minute. It
 * reads in the background, only while there are queues that it does not know, and never in a transaction of a caller.
 */
export class UnservedQueues {
  /** The queues that were not found served yet. */
  readonly #watched = new Map<string, Watched>();
  readonly #settled = new Set<string>();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(private readonly parts: UnservedQueuesParts) {}

  /** Jobs were committed for a queue that this process does not work. Sends no statement. */
  onEnqueued(queue: string): void {
    this.expect(queue, 'this process enqueues jobs into it');
  }

  /** @param reason why the queue needs a worker, for the warning */
  expect(queue: string, reason: string): void {
    if (this.#settled.has(queue) || this.#watched.has(queue)) return;
    if (this.#settled.size + this.#watched.size >= MAX_QUEUES || this.#stopping.signal.aborted) return;
    if (!this.parts.expectsWorker(queue) || this.parts.isServedHere(queue)) return this.settle(queue);
    this.#watched.set(queue, { reason, looks: 0 });
    this.#running ??= inRootContext(() => this.#run());
  }

  /** The queue needs no further look, for example because people of this process claim its jobs. */
  settle(queue: string): void {
    this.#watched.delete(queue);
    if (this.#settled.size < MAX_QUEUES) this.#settled.add(queue);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#watched.size > 0) {
      await this.parts.clock.sleep(LOOK_INTERVAL_MS, this.#stopping.signal, 'background');
      if (this.#stopping.signal.aborted) return;
      await this.#look().catch((error: unknown) => this.#onFailure(error));
    }
    this.#running = undefined;
  }

  /** The calls of the application report an outage, and the next look comes anyway. A missing privilege ends all looks. */
  #onFailure(error: unknown): void {
    if (!hasCode(error, 'MISSING_PRIVILEGE')) return;
    this.#stopping.abort();
    this.#watched.clear();
    this.parts.logger.warn(
      `This process does not warn of queues without a worker. ${(error as Error).message} If the account shall not read ` +
        `this, set \`defaults: { expectWorker: false }\`.`,
    );
  }

  async #look(): Promise<void> {
    const queues = [...this.#watched.keys()];
    const { unserved, known } = await this.parts.store.readService(queues);
    const isUnserved = new Set(unserved);
    for (const queue of queues) {
      const watched = this.#watched.get(queue);
      // A worker that restarts during one look has probably returned before the next one.
      if (watched && isUnserved.has(queue) && ++watched.looks < LOOKS) continue;
      if (watched && isUnserved.has(queue)) this.parts.logger.warn(warningOf(queue, watched.reason, known), { queue });
      this.settle(queue);
    }
  }
}

interface Watched {
  readonly reason: string;
  /** The looks that found no worker. */
  looks: number;
}

function warningOf(queue: string, reason: string, known: readonly string[]): string {
  const suggestion = known.includes(queue) ? '' : didYouMean(queue, known);
  return (
    `No worker of any process has served queue "${queue}" for a minute, and ${reason}${suggestion || '.'} ` +
    `Correct the name, or start a worker with a handler for the queue: @QueueProcessor('${queue}') in a class that a module provides. ` +
    `If people or other programs take its jobs, set queues: { '${queue}': { expectWorker: false } }.`
  );
}
