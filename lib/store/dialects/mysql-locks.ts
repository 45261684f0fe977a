import { randomId } from '../../job/random-id.js';
import type { Clock } from '../../time/clock.js';
import type { ClaimBounds } from '../claims/claim-bounds.js';
import type { Rescued, RescueRules } from '../job-store.js';
import type { LockStore } from '../lock-store.js';
import { persist } from '../sql/patience.js';
import { rescueEach } from '../sql/rescue-each.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { withDecisions } from '../sql/undecided.js';
import { findFree, removeFree, rescueFree, takeLock } from '../sql/worker-lock.js';
import type { MysqlPool } from './mysql-pool.js';
import { MysqlWorkerLock } from './mysql-worker-lock.js';

/** Row locks that workers keep on connections of the library's own pool. */
export class MysqlLocks implements LockStore {
  /** @param database for what rescuing does to jobs */
  constructor(
    private readonly pool: MysqlPool,
    private readonly database: SqlDatabase,
    private readonly bounds: ClaimBounds,
    private readonly clock: Clock,
  ) {}

  take(workerId: string): Promise<MysqlWorkerLock> {
    return persist(this.clock, async () => {
      for (;;) {
        const lock = await this.#tryToTake(workerId);
        if (lock) return lock;
      }
    });
  }

  async rescue(rules: RescueRules): Promise<Rescued[]> {
    const { locks, claims } = await this.pool.repeatable(() => findFree());
    const rescued = await rescueEach(claims, (claim) =>
      withDecisions(rules.decide, (decide) => this.database.transaction(() => rescueFree(claim, { ...rules, decide }))),
    );
    if (rescued.length > 0) this.bounds.forget();
    // One that stays is found again.
    for (const id of locks) await this.pool.transaction(() => removeFree(id)).catch(() => undefined);
    return rescued;
  }

  async #tryToTake(workerId: string): Promise<MysqlWorkerLock | undefined> {
    const connection = await this.pool.borrow();
    try {
      const id = randomId();
      if (await connection.send(() => takeLock(id, workerId))) return new MysqlWorkerLock(id, connection, this.clock);
      connection.drop();
      return undefined;
    } catch (error) {
      connection.drop();
      throw error;
    }
  }
}
