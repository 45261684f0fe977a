import { randomId } from '../../job/random-id.js';
import type { Clock } from '../../common/clock.js';
import type { ScanCursors } from '../jobs/claim/scan-cursors.js';
import type { WorkerLock, WorkerLockStore } from './worker-lock-store.js';
import { withTimeout } from '../../common/with-timeout.js';
import { withRetry } from '../core/with-retry.js';
import { rescueEach } from '../jobs/rescue.js';
import type { DedicatedConnection, SqlDatabase } from '../core/sql-database.js';
import {
  acquireLock,
  checkLock,
  deleteFreeLock,
  findOrphans,
  releaseLock,
  rescueOrphan,
} from './worker-lock-statements.js';

const RELEASE_TIMEOUT_MS = 1_000;

/** A database with row locks. */
export interface LockDatabase extends Pick<SqlDatabase, 'runIdempotent' | 'transaction'> {
  openDedicated(): Promise<DedicatedConnection>;
}

/**
 * Worker locks as row locks, each on a connection of its own.
 *
 * @param database for rescued jobs, so that their events are stored
 */
export function sqlWorkerLockStore(
  pool: LockDatabase,
  database: SqlDatabase,
  scanCursors: ScanCursors,
  clock: Clock,
): WorkerLockStore {
  return {
    acquire: (workerId) =>
      withRetry(clock, async () => {
        for (;;) {
          const connection = await pool.openDedicated();
          try {
            const id = randomId();
            if (await connection.send(() => acquireLock(id, workerId))) return new SqlWorkerLock(id, connection, clock);
          } catch (error) {
            connection.drop();
            throw error;
          }
          connection.drop();
        }
      }),

    async rescue(rules) {
      const { locks, claims } = await pool.runIdempotent(findOrphans);
      const rescued = await rescueEach(claims, rules, (claim, decided) =>
        database.transaction(() => rescueOrphan(claim, decided)),
      );
      if (rescued.length > 0) scanCursors.reset();
      // If a DELETE fails, the next rescue repeats it.
      for (const id of locks) await pool.transaction(() => deleteFreeLock(id)).catch(() => undefined);
      return rescued;
    },
  };
}

/** An open transaction that has locked one row. It ends with its connection, which ends with the process. */
class SqlWorkerLock implements WorkerLock {
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
