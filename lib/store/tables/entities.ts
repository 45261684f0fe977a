import { EntitySchema } from 'typeorm';
import { InvalidOptionsError } from '../../job/errors.js';
import { DEFAULT_PREFIX, TABLES, tableNames } from './table-names.js';
import { archiveProblems, type ArchiveOptions } from './archive-options.js';
import type { TableSchema } from './columns.js';
import { archiveTable, type SqlQueueHistoryRow } from './job-tables.js';
import { TABLE_SCHEMAS } from './table-schemas.js';

const entitiesByPrefix = new Map<string, readonly EntitySchema[]>();

/**
 * The library's tables as TypeORM entities, for applications that read them with repositories. The same prefix always
 * returns the same entities, in a new array. They are never synchronized: the library's migrations create the tables.
 *
 * The names are `SqlQueueJob`, `SqlQueueClaim`, `SqlQueueHistory`, `SqlQueueQueue`, `SqlQueueWorker`,
 * `SqlQueueCommitLog`, `SqlQueueSubscription`, `SqlQueueStage`, `SqlQueueWait`, `SqlQueueProgress`, `SqlQueueLog`,
 * `SqlQueueEvent`, `SqlQueueLock`, `SqlQueueKey`, `SqlQueueSchedule`, `SqlQueueLimits`, `SqlQueueGroup`, `SqlQueueStep`,
 * `SqlQueueSignal`, `SqlQueueFlow`, `SqlQueueEdge`, `SqlQueueStats`, `SqlQueueMetrics`, `SqlQueueError`,
 * `SqlQueueAudit` and `SqlQueueSubject`. A prefix other than the default is appended after `_`.
 *
 * @param options.prefix of the table names: 1 to 40 of the characters A-Z a-z 0-9 _; default `sql_queue_`
 * @throws InvalidOptionsError if the prefix has other characters
 *
 * @example
 * ```ts
 * const dataSource = new DataSource({ …, entities: [User, ...sqlQueueEntities()] });
 * await dataSource.getRepository<SqlQueueHistoryRow>('SqlQueueHistory').findBy({ queue: 'email.send', state: 'dead' });
 * ```
 */
export function sqlQueueEntities({ prefix = DEFAULT_PREFIX }: { prefix?: string } = {}): EntitySchema[] {
  const known = entitiesByPrefix.get(prefix);
  if (known) return [...known];
  const tables = tableNames(prefix);
  const suffix = prefix === DEFAULT_PREFIX ? '' : `_${prefix}`;
  const entities = TABLES.flatMap((table) => {
    const schema: TableSchema = TABLE_SCHEMAS[table];
    return schema.entity === undefined ? [] : [entityOf(schema, tables[table], `${schema.entity}${suffix}`)];
  });
  entitiesByPrefix.set(prefix, entities);
  return [...entities];
}

/**
 * The archive as a TypeORM entity with the name `SqlQueueArchive_` and the table's name, for applications that read it
 * with repositories. It is never synchronized.
 *
 * @throws InvalidOptionsError if `to` is not 1 to 50 of the characters A-Z a-z 0-9 _
 */
export function sqlQueueArchiveEntity({ to }: ArchiveOptions): EntitySchema<SqlQueueHistoryRow> {
  InvalidOptionsError.throwIfAny('Invalid archive', archiveProblems({ to }));
  return entityOf(archiveTable, to, `SqlQueueArchive_${to}`) as EntitySchema<SqlQueueHistoryRow>;
}

function entityOf({ columns, indexes = {} }: TableSchema, tableName: string, name: string): EntitySchema {
  const indices = Object.entries(indexes).map(([index, on]) => ({ name: `${tableName}_${index}`, columns: [...on] }));
  return new EntitySchema<Record<string, unknown>>({
    name,
    tableName,
    synchronize: false,
    columns: { ...columns },
    indices,
  });
}
