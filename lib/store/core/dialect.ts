import type { Work } from './statement.js';

export interface Dialect {
  readonly name: 'mysql' | 'mariadb' | 'sqlite';
  /** SQL for the server's time in whole milliseconds since 1970. Independent of all time zone settings. */
  readonly now: string;
  /** Whether a transaction that has written excludes all other writers, and so reads every earlier commit. */
  readonly hasOneWriter: boolean;
  /** Adds the row of a queue if it is missing. */
  addQueue(queue: string): Work<void>;
  /** Adds the missing rows of keys, unused, to be kept for `retentionMs`. */
  addKeys(keys: readonly KeyRowId[], retentionMs: number): Work<void>;
  /** The names of the queues with rows in the table: one index read per queue, however many rows a queue has. */
  queueNames(table: 'jobs' | 'history'): Work<string[]>;
  /** The id of the next job, or a lower id that no job has. */
  nextId(): Work<number>;
  /** Excludes other processes from maintenance, as far as the database supports it. */
  readonly maintenanceLock: { tryAcquire(): Work<boolean>; release(): Work<void> };
}

export interface KeyRowId {
  readonly queue: string;
  readonly hash: string;
}
