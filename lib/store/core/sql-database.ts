import type { CallerTransaction, ApplicationWork, SendWork } from './caller-transaction.js';
import type { StatementResult, FinalWrites, Statement, Work } from './statement.js';
import type { Words } from './template.js';

/** Sends, repeats and rolls back the statements of one kind of database. */
export interface SqlDatabase {
  /**
   * Runs the work in one transaction. Repeats it from the start after a deadlock, a lock wait timeout or a lost
   * connection, so the work must be repeatable.
   *
   * @param maxLockWaits the number of lock waits, of one second each, after which it rejects; default 20
   */
  transaction<T>(work: () => Work<T>, maxLockWaits?: number): Promise<T>;

  /** Commits each statement alone, and repeats it after a lost connection. For work that may be done twice. */
  runIdempotent<T>(work: () => Work<T>): Promise<T>;

  /**
   * Runs the statements in one transaction, exactly once. If the answer to the commit is lost, it first finds out
   * whether the commit happened. Rejects with outcome `unknown` if that takes longer than a minute.
   */
  writeOnce(writes: readonly Statement[]): Promise<readonly StatementResult[]>;

  /** Like `writeOnce`, for work that reads before it decides on its writes. Repeated until it commits. */
  decideOnce<T>(work: () => Work<FinalWrites<T>>): Promise<T>;

  /**
   * Like `writeOnce`, for work that writes while it reads, and that may throw.
   *
   * @param hasWritten whether the work has written, by its value; default: it has. If not, a lost answer does not
   * matter
   */
  transactOnce<T>(work: () => Work<T>, hasWritten?: (value: T) => boolean): Promise<T>;

  /**
   * Runs the works of a verb in the caller's transaction, without a retry. No other call uses the transaction before `act`
   * ends, so `act` must not wait for one. See `inCallerTransaction` for one work.
   *
   * Rejects with InvalidOptionsError if the manager is in no open transaction of the DataSource. Rejects with
   * TransactionLostError, before any statement of the work, if a deadlock, DDL or a statement of the caller has ended the
   * transaction without TypeORM: a rollback could not undo the work. Also if the transaction ends while the call waits for
   * another one, or while it runs: the query runner may be in its next transaction then.
   */
  holdCallerTransaction<T>(transaction: CallerTransaction, act: (send: SendWork) => Promise<T>): Promise<T>;

  /**
   * Reads every commit before the call. Uses a connection of its own if the database has one, because the caller's
   * transaction may read an older snapshot. Throws InvalidOptionsError as `holdCallerTransaction` does.
   */
  readLatest<T>(work: () => Work<T>, transaction?: CallerTransaction): Promise<T>;

  inApplicationTransaction<T>(work: ApplicationWork<T>): Promise<T>;

  close(): Promise<void>;
}

/** A connection that has left the pool. Its owner must drop it. */
export interface DedicatedConnection {
  send<T>(work: () => Work<T>): Promise<T>;
  /** Calls `act` when the server or the network ends the connection. */
  onEnd(act: () => void): void;
  /** Ends the connection at once, even while a statement runs on it. */
  drop(): void;
}

export interface Dialect {
  /** For the files of its database alone: others ask for an ability. */
  readonly name: 'mysql' | 'mariadb' | 'sqlite';
  /** SQL for the server's time in whole milliseconds since 1970. Independent of all time zone settings. */
  readonly now: string;
  readonly words: Words;
  /** Whether a transaction that has written excludes all other writers, and so reads every earlier commit. */
  readonly hasOneWriter: boolean;
  /** Whether `now` is the time of this machine, so that no statement is needed to read it. */
  readonly hasClockOfThisMachine: boolean;
  /** The end of an INSERT that changes nothing if a row has the same key, and locks that row for writing. */
  readonly lockDuplicate: (...key: [column: string, ...columns: string[]]) => string;
  /** Adds the missing rows of queues. */
  addQueues(queues: readonly string[]): Work<void>;
  /** Adds the missing rows of keys, unused, to be kept for `retentionMs`. */
  addKeys(keys: readonly KeyName[], retentionMs: number): Work<void>;
  /** The names of the queues with rows in the table: one index read per queue, however many rows a queue has. */
  queueNames(table: 'jobs' | 'history'): Work<string[]>;
  /** Selects the place of the tables, for messages, as `Place`. */
  readonly place: string;
  /** The id of the next job, or a lower id that no job has. */
  nextId(): Work<number>;
  /** Excludes other processes from maintenance, as far as the database supports it. */
  readonly maintenanceLock: { tryAcquire(): Work<boolean>; release(): Work<void> };
}

export interface Place {
  /** The name of a table, which shows the prefix. */
  readonly name: string;
  readonly db: string;
}

/** The primary key of the row of a key. */
export interface KeyName {
  readonly queue: string;
  readonly hash: string;
}
