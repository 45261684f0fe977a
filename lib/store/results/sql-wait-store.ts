import type * as port from './wait-store.js';
import type { SqlDatabase } from '../core/sql-database.js';
import { inBatches } from './in-batches.js';
import {
  registerWaits,
  deleteOutcomes,
  readAwaitedJobs,
  pruneWaits,
  findRemoved,
  unregisterWaits,
  waitersOf,
} from './waits.js';

export class SqlWaitStore implements port.WaitStore {
  constructor(private readonly database: SqlDatabase) {}

  async readJobs(ids: readonly number[]): Promise<ReadonlyMap<number, port.AwaitedJob>> {
    const found = await inBatches(ids, (batch) => this.database.runIdempotent(() => readAwaitedJobs(batch)));
    return new Map(found.flatMap((jobs) => [...jobs]));
  }

  async register(waiter: number, ids: readonly number[], forMs: number): Promise<void> {
    await inBatches(ids, (batch) => this.database.transaction(() => registerWaits(waiter, batch, forMs)));
  }

  async unregister(waiter: number, ids: readonly number[]): Promise<void> {
    await inBatches(ids, (batch) => this.database.transaction(() => unregisterWaits(waiter, batch)));
  }

  async waitersOf(ids: readonly number[]): Promise<number[]> {
    const waiters = await inBatches(ids, (batch) => this.database.runIdempotent(() => waitersOf(batch)));
    return [...new Set(waiters.flat())];
  }

  async removedOf(waiter: number, ids: readonly number[]): Promise<ReadonlySet<number>> {
    const removed = await inBatches(ids, (batch) => this.database.runIdempotent(() => findRemoved(waiter, batch)));
    return new Set(removed.flat());
  }

  async deleteOutcomes(waiter: number, ids: readonly number[]): Promise<void> {
    await inBatches(ids, (batch) => this.database.transaction(() => deleteOutcomes(waiter, batch)));
  }

  pruneWaits(limit: number): Promise<number> {
    return this.database.runIdempotent(() => pruneWaits(limit));
  }
}
