import { HISTORY as HISTORY_MYSQL } from './0001-tables-mysql.js';
import { HISTORY as HISTORY_SQLITE } from './0001-tables-sqlite.js';
import type { SchemaDialect } from './migrations.js';

/** The table of the history without the index for pruning. */
export const ARCHIVE_TABLE: Readonly<Record<SchemaDialect, readonly string[]>> = {
  mysql: [HISTORY_MYSQL.replace(/\n *KEY \{history\}_expiry [^\n]*/, '').replaceAll('{history}', '{archive}')],
  sqlite: [
    HISTORY_SQLITE.replaceAll('{history}', '{archive}'),
    `CREATE INDEX IF NOT EXISTS {archive}_state ON {archive} (queue, state, id)`,
  ],
};
