import type { EntityManager } from 'typeorm';
import type { CallerTransaction } from '../job-store.js';
import type { Work } from './statement.js';

/** A database of one kind: how its statements are sent, repeated and undone. */
export interface SqlDatabase {
  /** All of the work or nothing. Begun again, as a whole, after a deadlock and the like: the work must be repeatable. */
  transaction<T>(work: () => Work<T>): Promise<T>;

  /** Each statement by itself, and again where the connection went away: for what may be done twice. */
  repeatable<T>(work: () => Work<T>): Promise<T>;

  /** Each statement by itself, and never again where it may have been done. */
  once<T>(work: () => Work<T>): Promise<T>;

  /** On the caller's own transaction, without any retry. */
  within<T>(transaction: CallerTransaction, work: () => Work<T>): Promise<T>;

  /** A transaction of the application's own DataSource. */
  ofApplication<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;

  close(): Promise<void>;
}
