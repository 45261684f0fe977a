import type { Clock } from '../../common/clock.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import type { Archives } from '../tables/archive-options.js';
import type { ReturnedJob } from './claim.js';

/** The parts that the stores on one database share. */
export interface StoreParts {
  readonly dialect: Dialect;
  /**
   * Stores events, as `blocking` does. Heartbeats, completions, claims, and reads that a transaction of the application
   * needs must not queue for a connection behind statements that wait for such a transaction.
   */
  readonly database: SqlDatabase;
  /** For enqueues and the verbs of people, which may wait for a lock of an application transaction. */
  readonly blocking: SqlDatabase;
  /** Called with jobs that may wait again, before the positions at which claims start to read. */
  readonly scanCursors: { moveBefore(returned: readonly ReturnedJob[]): void };
  readonly clock: Clock;
  /** For finished jobs whose retention is over. Undefined: they are deleted. */
  readonly archives: Archives | undefined;
}
