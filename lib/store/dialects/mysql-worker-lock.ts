import type { Clock } from '../../time/clock.js';
import type { WorkerLock } from '../lock-store.js';
import { endLock, keepLock } from '../sql/worker-lock.js';
import type { Borrowed } from './mysql-pool.js';

const RELEASE_MS = 1_000;

/** An open transaction that has locked one row by its key. It ends with its connection, and that with the process. */
export class MysqlWorkerLock implements WorkerLock {
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;

  constructor(
    readonly id: number,
    private readonly connection: Borrowed,
    private readonly clock: Clock,
  ) {
    this.#ended = new Promise((resolve) => this.gone.addEventListener('abort', () => resolve(), { once: true }));
    connection.onEnd(() => this.#giveUp());
  }

  get gone(): AbortSignal {
    return this.#end.signal;
  }

  async ping(): Promise<void> {
    const kept = this.connection.send(() => keepLock(this.id)).catch(() => false);
    // The driver never answers what was under way when the connection was dropped.
    await Promise.race([kept.then((isKept) => isKept || this.#giveUp()), this.#ended]);
  }

  async release(): Promise<void> {
    const over = new AbortController();
    // A row that stays behind is removed by whoever finds it free.
    const removed = this.connection.send(() => endLock(this.id)).catch(() => undefined);
    await Promise.race([removed, this.#ended, this.clock.sleep(RELEASE_MS, over.signal)]);
    over.abort();
    this.#giveUp();
  }

  #giveUp(): void {
    this.connection.drop();
    this.#end.abort();
  }
}
