import type * as port from '../wait-store.js';
import type { SqlDatabase } from './sql-database.js';
import { enlist, forget, look, pruneWaits, removedOf, strike, waitersOf } from './waits.js';

// So many ids go into one statement: SQLite allows some 32,000 values, of which a look takes two for each.
const CHUNK = 5_000;

export class SqlWaitStore implements port.WaitStore {
  constructor(private readonly database: SqlDatabase) {}

  async look(ids: readonly number[]): Promise<ReadonlyMap<number, port.AwaitedJob>> {
    const found = new Map<number, port.AwaitedJob>();
    for (const chunk of chunksOf(ids)) {
      for (const [id, job] of await this.database.repeatable(() => look(chunk))) found.set(id, job);
    }
    return found;
  }

  async enlist(waiter: number, ids: readonly number[], forMs: number): Promise<void> {
    for (const chunk of chunksOf(ids)) await this.database.transaction(() => enlist(waiter, chunk, forMs));
  }

  async strike(waiter: number, ids: readonly number[]): Promise<void> {
    for (const chunk of chunksOf(ids)) await this.database.transaction(() => strike(waiter, chunk));
  }

  async waitersOf(ids: readonly number[]): Promise<number[]> {
    const waiters = new Set<number>();
    for (const chunk of chunksOf(ids)) {
      for (const waiter of await this.database.repeatable(() => waitersOf(chunk))) waiters.add(waiter);
    }
    return [...waiters];
  }

  async removedOf(waiter: number, ids: readonly number[]): Promise<ReadonlySet<number>> {
    const removed = new Set<number>();
    for (const chunk of chunksOf(ids)) {
      for (const id of await this.database.repeatable(() => removedOf(waiter, chunk))) removed.add(id);
    }
    return removed;
  }

  async forget(waiter: number, ids: readonly number[]): Promise<void> {
    for (const chunk of chunksOf(ids)) await this.database.transaction(() => forget(waiter, chunk));
  }

  pruneWaits(limit: number): Promise<number> {
    return this.database.repeatable(() => pruneWaits(limit));
  }
}

function chunksOf(ids: readonly number[]): number[][] {
  const chunks: number[][] = [];
  for (let from = 0; from < ids.length; from += CHUNK) chunks.push(ids.slice(from, from + CHUNK));
  return chunks;
}
