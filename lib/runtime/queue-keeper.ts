import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { Subscription } from '../job/topics.js';
import type { DeclaredQueue, QueueStore } from '../store/queue-store.js';
import type { Clock } from '../time/clock.js';
import type { JobLogger } from './job-logger.js';
import { PollLoop } from './poll-loop.js';

export interface QueueKeeperParts {
  readonly queueStore: Pick<QueueStore, 'declare' | 'use'>;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** What the queues of this process subscribe to. */
  readonly subscriptions: ReadonlyMap<string, readonly Subscription[]>;
}

// So often within its time a temporary queue is said to be in use.
const USES = 4;
const LONGEST_REST_MS = 60_000;
const RETRY_MS = 1_000;

/** Makes known what this process's queues subscribe to, and keeps the temporary ones while it works them. */
export class QueueKeeper {
  readonly #declared: readonly DeclaredQueue[];
  readonly #temporary: readonly string[];
  readonly #restMs: number;
  readonly #loop: PollLoop;

  constructor(
    private readonly parts: QueueKeeperParts,
    queues: readonly string[],
  ) {
    const { optionsFor, subscriptions, clock } = parts;
    this.#declared = queues.map((queue) => ({
      queue,
      expiresAfterMs: optionsFor(queue).expiresAfterMs || null,
      subscriptions: subscriptions.get(queue) ?? [],
    }));
    const temporary = this.#declared.filter(({ expiresAfterMs }) => expiresAfterMs !== null);
    this.#temporary = temporary.map(({ queue }) => queue);
    const shortestMs = Math.min(...temporary.map(({ expiresAfterMs }) => expiresAfterMs!));
    this.#restMs = Math.min(LONGEST_REST_MS, shortestMs / USES);
    this.#loop = new PollLoop(
      () => this.#use(),
      clock,
      (error) => this.#failed(error),
    );
  }

  /** From now on the queues get their copies, whether or not anything works here. */
  async declare(): Promise<void> {
    const unspoken = await this.parts.queueStore.declare(this.#declared);
    if (unspoken.length === 0) return;
    const list = unspoken.map(({ queue, topic }) => `${queue} of "${topic}"`).join(', ');
    this.parts.logger.log(
      `Queues get copies that their handlers here do not ask for: ${list}. They stay, since another version of this ` +
        `program, or somebody by hand, may have asked. End them with QueueAdmin.unsubscribe(queue, topic).`,
    );
  }

  start(): void {
    if (this.#temporary.length > 0) this.#loop.start();
  }

  /** Temporary queues count as unused from here on. Never rejects: they would go a little earlier. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.parts.queueStore.use(this.#temporary).catch(() => undefined);
  }

  async #use(): Promise<number> {
    const areThere = await this.parts.queueStore.use(this.#temporary);
    // This process was away for so long that they went.
    if (!areThere) await this.parts.queueStore.declare(this.#declared);
    return this.#restMs;
  }

  #failed(error: unknown): number {
    this.parts.logger.warn(`Cannot say that temporary queues are in use, trying on: ${(error as Error).message}`);
    return RETRY_MS;
  }
}
