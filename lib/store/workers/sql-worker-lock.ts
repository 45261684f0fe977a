import type { Clock } from '../../common/clock.js';
import { withTimeout } from '../../common/with-timeout.js';
import type { DedicatedConnection } from '../core/sql-database.js';
import type { WorkerLock } from './worker-lock-store.js';
import { releaseLock, checkLock } from './worker-lock-statements.js';

const RELEASE_TIMEOUT_MS = 1_000;

/** An open transaction that has locked one row. It ends with its connection, which ends with the process. */
export class SqlWorkerLock implements WorkerLock {
  readonly #lost = new AbortController();
  readonly #whenLost: Promise<void>;

  constructor(
    readonly id: number,
    private readonly connection: DedicatedConnection,
    private readonly clock: Clock,
  ) {
    this.#whenLost = new Promise((resolve) =>
      this.lostSignal.addEventListener('abort', () => resolve(), { once: true }),
    );
    connection.onEnd(() => this.#lose());
  }

  get lostSignal(): AbortSignal {
    return this.#lost.signal;
  }

  async ping(): Promise<void> {
    const check = this.connection.send(() => checkLock(this.id)).catch(() => false);
    // The driver never calls back for statements that were running when the connection was dropped.
    await Promise.race([check.then((isLocked) => isLocked || this.#lose()), this.#whenLost]);
  }

  async release(): Promise<void> {
    // If the DELETE fails, the next rescue deletes the row.
    const deleted = this.connection.send(() => releaseLock(this.id)).catch(() => undefined);
    await withTimeout(this.clock, RELEASE_TIMEOUT_MS, Promise.race([deleted, this.#whenLost]));
    this.#lose();
  }

  #lose(): void {
    this.connection.drop();
    this.#lost.abort();
  }
}
