import type * as port from './wait-store.js';
import { idBatches } from '../core/row-ids.js';
import type { SqlDatabase } from '../core/sql-database.js';
import {
  registerWaits,
  deleteOutcomes,
  readAwaitedJobs,
  pruneWaits,
  findRemoved,
  unregisterWaits,
  waitersOf,
} from './waits.js';

// SQLite allows 32,766 values in one statement, and `readJobs` needs two for each id.
const BATCH_SIZE = 5_000;

export class SqlWaitStore implements port.WaitStore {
  constructor(private readonly database: SqlDatabase) {}

  async readJobs(ids: readonly number[]): Promise<ReadonlyMap<number, port.AwaitedJob>> {
    const found = new Map<number, port.AwaitedJob>();
    for (const batch of idBatches(ids, BATCH_SIZE)) {
      for (const [id, job] of await this.database.runIdempotent(() => readAwaitedJobs(batch))) found.set(id, job);
    }
    return found;
  }

  async register(waiter: number, ids: readonly number[], forMs: number): Promise<void> {
    for (const batch of idBatches(ids, BATCH_SIZE))
      await this.database.transaction(() => registerWaits(waiter, batch, forMs));
  }

  async unregister(waiter: number, ids: readonly number[]): Promise<void> {
    for (const batch of idBatches(ids, BATCH_SIZE))
      await this.database.transaction(() => unregisterWaits(waiter, batch));
  }

  async waitersOf(ids: readonly number[]): Promise<number[]> {
    const waiters = new Set<number>();
    for (const batch of idBatches(ids, BATCH_SIZE)) {
      for (const waiter of await this.database.runIdempotent(() => waitersOf(batch))) waiters.add(waiter);
    }
    return [...waiters];
  }

  async removedOf(waiter: number, ids: readonly number[]): Promise<ReadonlySet<number>> {
    const removed = new Set<number>();
    for (const batch of idBatches(ids, BATCH_SIZE)) {
      for (const id of await this.database.runIdempotent(() => findRemoved(waiter, batch))) removed.add(id);
    }
    return removed;
  }

  async deleteOutcomes(waiter: number, ids: readonly number[]): Promise<void> {
    for (const batch of idBatches(ids, BATCH_SIZE))
      await this.database.transaction(() => deleteOutcomes(waiter, batch));
  }

  pruneWaits(limit: number): Promise<number> {
    return this.database.runIdempotent(() => pruneWaits(limit));
  }
}
