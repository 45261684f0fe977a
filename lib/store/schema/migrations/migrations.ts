import { TABLES, type Tables } from '../../tables/table-names.js';
import type { Dialect } from '../../core/sql-database.js';
import type { Statement } from '../../core/statement.js';
import { HISTORY as HISTORY_MYSQL, TABLES_MYSQL } from './0001-tables-mysql.js';
import { HISTORY as HISTORY_SQLITE, TABLES_SQLITE } from './0001-tables-sqlite.js';
import { SCHEDULES_MYSQL, SCHEDULES_SQLITE } from './0002-schedules.js';
import { LIMITS_MYSQL, LIMITS_SQLITE } from './0003-limits.js';
import { GROUPS_DOWN_MYSQL, GROUPS_DOWN_SQLITE, GROUPS_MYSQL, GROUPS_SQLITE } from './0005-groups.js';
import { FLOWS_MYSQL, FLOWS_SQLITE } from './0006-flows.js';
import { STATS_MYSQL, STATS_SQLITE } from './0007-stats.js';
import { METRICS_MYSQL, METRICS_SQLITE } from './0008-metrics.js';
import { SETTINGS_MYSQL, SETTINGS_SQLITE } from './0009-settings.js';
import { AUDIT_MYSQL, AUDIT_SQLITE } from './0009-audit.js';
import { SUBJECTS_MYSQL, SUBJECTS_SQLITE } from './0010-subjects.js';
import { STEPS_MYSQL, STEPS_SQLITE } from './0004-steps.js';

/** MariaDB has the schema of MySQL. */
const forDialects = (mysql: readonly string[], sqlite: readonly string[]) => ({ mysql, mariadb: mysql, sqlite });
type Statements = ReturnType<typeof forDialects>;

const onAll = (statements: readonly string[]) => forDialects(statements, statements);
const dropTables = (...tables: (keyof Tables)[]) => tables.map((table) => `DROP TABLE IF EXISTS {${table}}`);
const dropping = (...tables: (keyof Tables)[]) => onAll(dropTables(...tables));

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: Statements;
  readonly down: Statements;
}

// TypeORM sorts migrations by the time at the end of their names, and remembers the names.
const FIRST_TIME = 1_790_000_000_000;

const migration = (version: number, what: string, up: Statements, down: Statements): Migration => ({
  ...{ version, up, down },
  name: `CreateSqlQueue${what}${FIRST_TIME + version}`,
});

/**
 * In order. Every statement may run twice, because MySQL commits after each one: the second time it does nothing, or fails
 * with an error that `isAppliedBefore` knows.
 */
export const MIGRATIONS: readonly Migration[] = [
  migration(1, 'Tables', forDialects(TABLES_MYSQL, TABLES_SQLITE), dropping(...TABLES)),
  migration(2, 'Schedules', forDialects(SCHEDULES_MYSQL, SCHEDULES_SQLITE), dropping('schedules')),
  migration(3, 'Limits', forDialects(LIMITS_MYSQL, LIMITS_SQLITE), dropping('limits')),
  migration(4, 'Steps', forDialects(STEPS_MYSQL, STEPS_SQLITE), dropping('steps', 'signals')),
  migration(5, 'Groups', forDialects(GROUPS_MYSQL, GROUPS_SQLITE), forDialects(GROUPS_DOWN_MYSQL, GROUPS_DOWN_SQLITE)),
  migration(
    6,
    'Flows',
    forDialects(FLOWS_MYSQL, FLOWS_SQLITE),
    onAll([
      `UPDATE {jobs} SET state = 'waiting', runnable = 1 WHERE state = 'blocked'`,
      ...dropTables('edges', 'flows'),
    ]),
  ),
  migration(7, 'Stats', forDialects(STATS_MYSQL, STATS_SQLITE), dropping('stats')),
  migration(8, 'Metrics', forDialects(METRICS_MYSQL, METRICS_SQLITE), dropping('metrics')),
  migration(
    9,
    'Audit',
    forDialects([...AUDIT_MYSQL, ...SETTINGS_MYSQL], [...AUDIT_SQLITE, ...SETTINGS_SQLITE]),
    onAll([...dropTables('audit'), 'ALTER TABLE {queues} DROP COLUMN settings']),
  ),
  migration(10, 'Subjects', forDialects(SUBJECTS_MYSQL, SUBJECTS_SQLITE), dropping('subjects')),
];

export const SCHEMA_VERSION = MIGRATIONS.at(-1)!.version;

const RECORD_VERSION = `
  INSERT INTO {schema} (version, applied_at)
  SELECT :version, :now
  FROM (SELECT 1 AS one) AS one_row
  WHERE NOT EXISTS (SELECT 1 FROM {schema} WHERE version = :version)`;

export function upStatements({ up, version }: Migration, dialect: Dialect['name']): Statement[] {
  return [...up[dialect].map((sql) => ({ sql, values: {} })), { sql: RECORD_VERSION, values: { version } }];
}

/** The first migration removes all tables, the one of the versions included. */
export function downStatements({ down, version }: Migration, dialect: Dialect['name']): Statement[] {
  const forget = { sql: 'DELETE FROM {schema} WHERE version = :version', values: { version } };
  return [...down[dialect].map((sql) => ({ sql, values: {} })), ...(version === 1 ? [] : [forget])];
}

/** The table of the history without the index for pruning. */
export const ARCHIVE_TABLE = forDialects(
  [HISTORY_MYSQL.replace(/\n *KEY \{history\}_expiry [^\n]*/, '').replaceAll('{history}', '{archive}')],
  [
    HISTORY_SQLITE.replaceAll('{history}', '{archive}'),
    `CREATE INDEX IF NOT EXISTS {archive}_state ON {archive} (queue, state, id)`,
  ],
);
