import { addRowsBy } from '../../core/add-rows.js';
import type { Dialect } from '../../core/sql-database.js';
import { query, type Work } from '../../core/statement.js';
import { NOW } from '../../tables/columns.js';

// Exact, unlike information_schema, whose values MySQL caches for a day.
const TABLE_DEFINITION = 'SHOW CREATE TABLE {jobs}';

// A digest, because a lock name has at most 64 characters and is global to the server. The wait of 3 s is shorter than
// the timeout for an answer.
const LOCK_NAME = `SHA2(CONCAT(DATABASE(), '.{schema}'), 224)`;
const ACQUIRE_LOCK = `SELECT GET_LOCK(${LOCK_NAME}, 3) AS acquired`;
const RELEASE_LOCK = `SELECT RELEASE_LOCK(${LOCK_NAME})`;

// The smallest name above a constant is always one index entry, even with bad statistics.
const nextIn = (table: string, index: string) => `
  SELECT MIN(queue) AS queue
  FROM ${table} FORCE INDEX (${table}_${index})
  WHERE queue > :last`;

// Skips from name to name if the statistics are good, and otherwise reads the whole index: MariaDB keeps the statistics
// of a table that was empty when it was opened.
const allIn = (table: string, index: string) => `
  SELECT DISTINCT queue
  FROM ${table} FORCE INDEX (${table}_${index})`;

const NEXT = { jobs: nextIn('{jobs}', 'queue'), history: nextIn('{history}', 'state') } as const;
const ALL = { jobs: allIn('{jobs}', 'queue'), history: allIn('{history}', 'state') } as const;

// With more queues, a round trip per queue costs more than reading the whole index.
const MAX_SINGLE_READS = 30;

/** MySQL 8.0.13 or newer. */
export const mysql: Dialect = {
  name: 'mysql',
  now: NOW.mysql,
  // The server scans a small table instead of using its key, and a scan waits for locks on rows that the statement does not
  // need. Each statement that locks rows by id therefore names the primary key. A DELETE accepts an index only in the form for
  // several tables, which names the table twice. If a list of ids is as long as the table, MariaDB still locks all of it, so
  // most verbs send one DELETE per row.
  words: {
    lock: 'FOR UPDATE',
    lockFree: 'FOR UPDATE SKIP LOCKED',
    byPrimary: 'FORCE INDEX (PRIMARY)',
    byIndex: (index) => `FORCE INDEX (${index})`,
    deleteFrom: (table) => `DELETE ${table} FROM ${table} FORCE INDEX (PRIMARY)`,
    joinInOrder: 'STRAIGHT_JOIN',
    onDuplicate: () => 'ON DUPLICATE KEY UPDATE',
    given: (column) => `VALUES(${column})`,
    onlySqlite: 'AND FALSE',
  },
  // INSERT IGNORE would lock the row for reading: several transactions could then not write it.
  lockDuplicate: (column) => `ON DUPLICATE KEY UPDATE ${column} = ${column}`,

  ...addRowsBy('INSERT IGNORE'),

  hasOneWriter: false,
  hasClockOfThisMachine: false,

  queueNames,

  place: `SELECT '{schema}' AS name, DATABASE() AS db`,

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

function* queueNames(table: keyof typeof NEXT): Work<string[]> {
  const names: string[] = [];
  while (names.length < MAX_SINGLE_READS) {
    const [next] = yield* query<{ queue: string | null }>(NEXT[table], { last: names.at(-1) ?? '' });
    if (next!.queue === null) return names;
    names.push(next!.queue);
  }
  return (yield* query<{ queue: string }>(ALL[table])).map(({ queue }) => queue);
}
