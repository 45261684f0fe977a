import { addRowsBy } from '../core/add-rows.js';
import type { Dialect } from '../core/sql-database.js';
import { query, type Work } from '../core/statement.js';
import { queueNames } from './mysql-queue-names.js';

// UTC_TIMESTAMP() ignores the session's time zone. UNIX_TIMESTAMP() of it would be wrong by the zone's offset.
const NOW = `TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000`;

// Exact, unlike information_schema, whose values MySQL caches for a day.
const TABLE_DEFINITION = 'SHOW CREATE TABLE {jobs}';

// A digest, because a lock name has at most 64 characters and is global to the server. The wait of 3 s is shorter than
// the timeout for an answer.
const LOCK_NAME = `SHA2(CONCAT(DATABASE(), '.{schema}'), 224)`;
const ACQUIRE_LOCK = `SELECT GET_LOCK(${LOCK_NAME}, 3) AS acquired`;
const RELEASE_LOCK = `SELECT RELEASE_LOCK(${LOCK_NAME})`;

/** MySQL 8.0.13 or newer. */
export const mysql: Dialect = {
  name: 'mysql',
  now: NOW,
  // INSERT IGNORE would lock the row for reading: several transactions could then not write it.
  lockDuplicate: (column) => `ON DUPLICATE KEY UPDATE ${column} = ${column}`,

  ...addRowsBy('INSERT IGNORE'),

  hasOneWriter: false,

  queueNames,

  *nextId(): Work<number> {
    const [row] = yield* query<Record<string, string>>(TABLE_DEFINITION);
    // A table that never had a row shows no AUTO_INCREMENT.
    return Number(/ AUTO_INCREMENT=(\d+)/.exec(row!['Create Table']!)?.[1] ?? 1);
  },

  maintenanceLock: {
    *tryAcquire(): Work<boolean> {
      const [row] = yield* query<{ acquired: number }>(ACQUIRE_LOCK);
      return row?.acquired === 1;
    },
    *release(): Work<void> {
      yield* query(RELEASE_LOCK);
    },
  },
};

/** MariaDB 10.6 or newer. */
export const mariadb: Dialect = { ...mysql, name: 'mariadb' };
