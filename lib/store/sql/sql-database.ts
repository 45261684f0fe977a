import type { CallerTransaction } from '../job-store.js';
import type { ApplicationWork } from './application-transaction.js';
import type { Answer, Decided, Statement, Work } from './statement.js';

/** A database of one kind: how its statements are sent, repeated and undone. */
export interface SqlDatabase {
  /**
   * All of the work or nothing. Begun again, as a whole, after a deadlock and the like: the work must be repeatable.
   *
   * @param lockWaits after so many, of a second each, it is given up; default 20
   */
  transaction<T>(work: () => Work<T>, lockWaits?: number): Promise<T>;

  /** Each statement by itself, and again where the connection went away: for what may be done twice. */
  repeatable<T>(work: () => Work<T>): Promise<T>;

  /**
   * All of the statements or none, and never twice: where the answer to their commit is lost, it is found out what became
   * of it before anything is done again. Rejects with outcome `unknown` where that cannot be found out within a minute.
   */
  once(writes: readonly Statement[]): Promise<readonly Answer[]>;

  /** The same for work that decides what to write from what it reads. Begun again like any transaction, until it is committed. */
  decideOnce<T>(work: () => Work<Decided<T>>): Promise<T>;

  /**
   * The same for work that writes as it goes, and may throw until it is done.
   *
   * @param hasWritten asked of what the work comes to; where it has written nothing, nothing has to be found out
   */
  transactOnce<T>(work: () => Work<T>, hasWritten?: (value: T) => boolean): Promise<T>;

  /** Throws InvalidOptionsError if the caller's manager is in no open transaction of the DataSource. */
  requireOpen(transaction: CallerTransaction): void;

  /** On the caller's own transaction, which is open, without any retry. */
  within<T>(transaction: CallerTransaction, work: () => Work<T>): Promise<T>;

  /**
   * Reads what had been committed when it was asked to. On a connection of its own where it can: the caller's transaction
   * may see an older state.
   */
  latest<T>(work: () => Work<T>, transaction?: CallerTransaction): Promise<T>;

  /** A transaction of the application's own DataSource. */
  ofApplication<T>(work: ApplicationWork<T>): Promise<T>;

  close(): Promise<void>;
}
