import { addRowsBy } from '../../core/add-rows.js';
import type { Dialect } from '../../core/sql-database.js';
import { query, type Work } from '../../core/statement.js';
import { NOW } from '../../tables/columns.js';

// DISTINCT would read the whole index.
const namesIn = (table: string) => `
  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM ${table}
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM ${table} t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL`;

const NAMES = { jobs: namesIn('{jobs}'), history: namesIn('{history}') } as const;

const LAST_ID = `
  SELECT seq
  FROM sqlite_sequence
  WHERE name = '{jobs}'`;

export const sqlite: Dialect = {
  name: 'sqlite',
  now: NOW.sqlite,
  // Only one transaction writes at a time, and it locks the whole file: a row needs no lock, and a scan waits for none.
  words: {
    ...{ lock: '', lockFree: '', byPrimary: '', byIndex: () => '', joinInOrder: '', onlySqlite: '' },
    deleteFrom: (table) => `DELETE FROM ${table}`,
    onDuplicate: (key) => `ON CONFLICT (${key}) DO UPDATE SET`,
    given: (column) => `excluded.${column}`,
  },
  lockDuplicate: (...key) => `ON CONFLICT (${key.join(', ')}) DO NOTHING`,

  ...addRowsBy('INSERT OR IGNORE'),

  hasOneWriter: true,
  hasClockOfThisMachine: true,

  *queueNames(table: keyof typeof NAMES): Work<string[]> {
    const names = (yield* query<{ queue: unknown }>(NAMES[table])).map(({ queue }) => queue);
    // Another program can write values of any type.
    return names.filter((queue): queue is string => typeof queue === 'string');
  },

  place: `SELECT '{schema}' AS name, COALESCE(NULLIF(file, ''), 'main') AS db FROM pragma_database_list WHERE name = 'main'`,

  *nextId(): Work<number> {
    const [row] = yield* query<{ seq: number }>(LAST_ID);
    return (row?.seq ?? 0) + 1;
  },

  maintenanceLock: {
    // The transaction that creates the tables is the lock.
    // eslint-disable-next-line require-yield
    *tryAcquire(): Work<boolean> {
      return true;
    },
    *release(): Work<void> {},
  },
};
