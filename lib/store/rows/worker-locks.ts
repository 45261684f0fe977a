import type { DedicatedConnection } from '../core/sql-database.js';
import type { Work } from '../core/statement.js';

/** How a database keeps the locks of workers: each on a connection of its own, with which it ends. */
export interface WorkerLocks {
  open(): Promise<DedicatedConnection>;
  /**
   * Writes the row of a lock and locks it until the connection ends. Returns false if a rescue deleted the row in
   * between: then use a new id. No claim names the lock before it is acquired, so no job is affected.
   */
  acquire(id: number, workerId: string): Work<boolean>;
  /** Run it on the lock's own connection. Returns false if the lock was lost at some time. */
  check(id: number): Work<boolean>;
  /** Run it on the lock's own connection. Deletes the row. */
  release(id: number): Work<void>;
  /** Selects a row if the lock with the `:id` is free, and then keeps it for this transaction. Waits for no lock. */
  readonly lockIfFree: string;
}
