import { TABLES } from '../../tables.js';
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
import { STEPS_MYSQL, STEPS_SQLITE } from './0004-steps.js';

/** MariaDB has the schema of MySQL. */
const forDialects = (mysql: readonly string[], sqlite: readonly string[]) => ({ mysql, mariadb: mysql, sqlite });

const onAll = (statements: readonly string[]) => forDialects(statements, statements);

export interface Migration {
  readonly version: number;
  /** Ends with a time in milliseconds, by which TypeORM sorts migrations. */
  readonly name: string;
  readonly up: ReturnType<typeof forDialects>;
  readonly down: ReturnType<typeof forDialects>;
}

/**
 * In order. Every statement may run twice, because MySQL commits after each one: the second time it does nothing, or fails
 * with an error that `isAppliedBefore` knows.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'CreateSqlQueueTables1790000000001',
    up: forDialects(TABLES_MYSQL, TABLES_SQLITE),
    down: onAll(TABLES.map((table) => `DROP TABLE IF EXISTS {${table}}`)),
  },
  {
    version: 2,
    name: 'CreateSqlQueueSchedules1790000000002',
    up: forDialects(SCHEDULES_MYSQL, SCHEDULES_SQLITE),
    down: onAll(['DROP TABLE IF EXISTS {schedules}']),
  },
  {
    version: 3,
    name: 'CreateSqlQueueLimits1790000000003',
    up: forDialects(LIMITS_MYSQL, LIMITS_SQLITE),
    down: onAll(['DROP TABLE IF EXISTS {limits}']),
  },
  {
    version: 4,
    name: 'CreateSqlQueueSteps1790000000004',
    up: forDialects(STEPS_MYSQL, STEPS_SQLITE),
    down: onAll(['DROP TABLE IF EXISTS {steps}', 'DROP TABLE IF EXISTS {signals}']),
  },
  {
    version: 5,
    name: 'CreateSqlQueueGroups1790000000005',
    up: forDialects(GROUPS_MYSQL, GROUPS_SQLITE),
    down: forDialects(GROUPS_DOWN_MYSQL, GROUPS_DOWN_SQLITE),
  },
  {
    version: 6,
    name: 'CreateSqlQueueFlows1790000000006',
    up: forDialects(FLOWS_MYSQL, FLOWS_SQLITE),
    down: onAll([
      `UPDATE {jobs} SET state = 'waiting', runnable = 1 WHERE state = 'blocked'`,
      'DROP TABLE IF EXISTS {edges}',
      'DROP TABLE IF EXISTS {flows}',
    ]),
  },
  {
    version: 7,
    name: 'CreateSqlQueueStats1790000000007',
    up: forDialects(STATS_MYSQL, STATS_SQLITE),
    down: onAll(['DROP TABLE IF EXISTS {stats}']),
  },
  {
    version: 8,
    name: 'CreateSqlQueueMetrics1790000000008',
    up: forDialects(METRICS_MYSQL, METRICS_SQLITE),
    down: onAll(['DROP TABLE IF EXISTS {metrics}']),
  },
  {
    version: 9,
    name: 'CreateSqlQueueAudit1790000000009',
    up: forDialects([...AUDIT_MYSQL, ...SETTINGS_MYSQL], [...AUDIT_SQLITE, ...SETTINGS_SQLITE]),
    down: onAll(['DROP TABLE IF EXISTS {audit}', 'ALTER TABLE {queues} DROP COLUMN settings']),
  },
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
