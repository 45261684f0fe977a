import { randomId } from '../../job/random-id.js';
import type { Clock } from '../../common/clock.js';
import type { ScanCursors } from '../jobs/claim/scan-cursors.js';
import type { RescuedJob, RescueRules } from '../jobs/job-store.js';
import type { WorkerLockStore } from './worker-lock-store.js';
import { withRetry } from '../core/with-retry.js';
import { rescueEach } from '../jobs/rescue.js';
import type { DedicatedConnection, SqlDatabase } from '../core/sql-database.js';
import { findOrphans, deleteFreeLock, rescueOrphan, acquireLock } from './worker-lock-statements.js';
import { SqlWorkerLock } from './sql-worker-lock.js';

/** A database with row locks. */
export interface LockDatabase extends Pick<SqlDatabase, 'runIdempotent' | 'transaction'> {
  openDedicated(): Promise<DedicatedConnection>;
}

/** Worker locks as row locks, each on a connection of its own. */
export class SqlWorkerLockStore implements WorkerLockStore {
  /** @param database for rescued jobs, so that their events are stored */
  constructor(
    private readonly pool: LockDatabase,
    private readonly database: SqlDatabase,
    private readonly scanCursors: ScanCursors,
    private readonly clock: Clock,
  ) {}

  acquire(workerId: string): Promise<SqlWorkerLock> {
    return withRetry(this.clock, async () => {
      for (;;) {
        const lock = await this.#tryAcquire(workerId);
        if (lock) return lock;
      }
    });
  }

  async rescue(rules: RescueRules): Promise<RescuedJob[]> {
    const { locks, claims } = await this.pool.runIdempotent(() => findOrphans());
    const rescued = await rescueEach(claims, rules, (claim, decided) =>
      this.database.transaction(() => rescueOrphan(claim, decided)),
    );
    if (rescued.length > 0) this.scanCursors.reset();
    // If a DELETE fails, the next rescue repeats it.
    for (const id of locks) await this.pool.transaction(() => deleteFreeLock(id)).catch(() => undefined);
    return rescued;
  }

  async #tryAcquire(workerId: string): Promise<SqlWorkerLock | undefined> {
    const connection = await this.pool.openDedicated();
    try {
      const id = randomId();
      if (await connection.send(() => acquireLock(id, workerId))) return new SqlWorkerLock(id, connection, this.clock);
      connection.drop();
      return undefined;
    } catch (error) {
      connection.drop();
      throw error;
    }
  }
}
