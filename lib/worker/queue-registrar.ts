import type { DeclaredQueue } from '../store/features/queues/queue-store.js';
import { OutageLog } from '../common/logger.js';
import { PollLoop } from '../common/poll-loop.js';
import type { WorkerParts } from './worker-parts.js';

// How often the use of a temporary queue is recorded within its expiry time.
const USES_PER_EXPIRY = 4;
const MAX_INTERVAL_MS = 60_000;
const RETRY_INTERVAL_MS = 1_000;

/** Declares queues and their subscriptions, and keeps temporary queues alive while the worker runs. */
export class QueueRegistrar {
  readonly #declared: readonly DeclaredQueue[];
  readonly #temporary: readonly string[];
  readonly #intervalMs: number;
  readonly #loop: PollLoop;
  readonly #outage: OutageLog;

  constructor(
    private readonly parts: Pick<WorkerParts, 'stores' | 'clock' | 'logger' | 'optionsFor' | 'subscriptions'>,
    queues: readonly string[],
  ) {
    const { optionsFor, subscriptions, clock, logger } = parts;
    this.#declared = queues.map((queue) => ({
      queue,
      expiresAfterMs: optionsFor(queue).expiresAfterMs || null,
      subscriptions: subscriptions.get(queue) ?? [],
    }));
    const temporary = this.#declared.filter(({ expiresAfterMs }) => expiresAfterMs !== null);
    this.#temporary = temporary.map(({ queue }) => queue);
    const shortestMs = Math.min(...temporary.map(({ expiresAfterMs }) => expiresAfterMs!));
    this.#intervalMs = Math.min(MAX_INTERVAL_MS, shortestMs / USES_PER_EXPIRY);
    // Without a message for the end of the outage, because the poller logs it.
    this.#outage = new OutageLog(logger, 'Cannot record the use of temporary queues, retrying');
    this.#loop = new PollLoop(() => this.#recordUse(), clock, this.#outage.retryAfter(RETRY_INTERVAL_MS));
  }

  /** From now on the queues receive copies of published messages, even while no worker runs. */
  async declare(): Promise<void> {
    const undeclared = await this.parts.stores.queues.declare(this.#declared);
    if (undeclared.length === 0) return;
    const list = undeclared.map(({ queue, topic }) => `${queue} of "${topic}"`).join(', ');
    this.parts.logger.log(
      `Queues have subscriptions that no handler of this process declares: ${list}. They stay, because another version of ` +
        `this program or an operator may have added them. End them with QueueAdmin.unsubscribe(queue, topic).`,
    );
  }

  start(): void {
    if (this.#temporary.length > 0) this.#loop.start();
  }

  /** Temporary queues count as unused from now on. Never rejects: without the last use they expire a little earlier. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.parts.stores.queues.markUsed(this.#temporary).catch(() => undefined);
  }

  async #recordUse(): Promise<number> {
    const allExist = await this.parts.stores.queues.markUsed(this.#temporary);
    // The queues expired while this process could not reach the database.
    if (!allExist) await this.parts.stores.queues.declare(this.#declared);
    this.#outage.onSuccess();
    return this.#intervalMs;
  }
}
