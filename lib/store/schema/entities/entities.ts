import type { EntitySchema } from 'typeorm';
import { DEFAULT_PREFIX, tableNames } from '../../tables.js';
import { claimTable } from './claim.entity.js';
import { commitLogTable } from './commit-log.entity.js';
import { eventTable } from './event.entity.js';
import { historyTable } from './history.entity.js';
import { jobTable } from './job.entity.js';
import { keyTable } from './key.entity.js';
import { lockTable } from './lock.entity.js';
import { logTable } from './log.entity.js';
import { progressTable } from './progress.entity.js';
import { queueTable } from './queue.entity.js';
import { stageTable } from './stage.entity.js';
import { subscriptionTable } from './subscription.entity.js';
import { entityOf, type TableSchema } from './table-schema.js';
import { waitTable } from './wait.entity.js';
import { workerTable } from './worker.entity.js';

const TABLE_SCHEMAS: readonly Pick<TableSchema, 'table' | 'entity' | 'columns' | 'indexes'>[] = [
  jobTable,
  claimTable,
  historyTable,
  queueTable,
  workerTable,
  commitLogTable,
  subscriptionTable,
  stageTable,
  waitTable,
  progressTable,
  logTable,
  eventTable,
  lockTable,
  keyTable,
];

const entitiesByPrefix = new Map<string, readonly EntitySchema[]>();

/**
 * The library's tables as TypeORM entities, for applications that read them with repositories. The same prefix always
 * returns the same entities, in a new array. They are never synchronized: the library's migrations create the tables.
 *
 * The names are `SqlQueueJob`, `SqlQueueClaim`, `SqlQueueHistory`, `SqlQueueQueue`, `SqlQueueWorker`,
 * `SqlQueueCommitLog`, `SqlQueueSubscription`, `SqlQueueStage`, `SqlQueueWait`, `SqlQueueProgress`, `SqlQueueLog`,
 * `SqlQueueEvent`, `SqlQueueLock` and `SqlQueueKey`. A prefix other than the default is appended after `_`.
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
  const entities: EntitySchema[] = TABLE_SCHEMAS.map((schema) =>
    entityOf(schema, tables[schema.table], `${schema.entity}${suffix}`),
  );
  entitiesByPrefix.set(prefix, entities);
  return [...entities];
}
