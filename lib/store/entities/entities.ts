import type { EntitySchema } from 'typeorm';
import { DEFAULT_PREFIX, tableNames } from '../tables.js';
import { claimEntity, type SqlQueueClaimRow } from './claim.entity.js';
import { eventEntity, type SqlQueueEventRow } from './event.entity.js';
import { historyEntity, type SqlQueueHistoryRow } from './history.entity.js';
import { jobEntity, type SqlQueueJobRow } from './job.entity.js';
import { lockEntity, type SqlQueueLockRow } from './lock.entity.js';
import { logEntity, type SqlQueueLogRow } from './log.entity.js';
import { keyEntity, type SqlQueueKeyRow } from './key.entity.js';
import { producerEntity, type SqlQueueProducerRow } from './producer.entity.js';
import { progressEntity, type SqlQueueProgressRow } from './progress.entity.js';
import { queueEntity, type SqlQueueQueueRow } from './queue.entity.js';
import { stageEntity, type SqlQueueStageRow } from './stage.entity.js';
import { subscriptionEntity, type SqlQueueSubscriptionRow } from './subscription.entity.js';
import { waitEntity, type SqlQueueWaitRow } from './wait.entity.js';
import { workerEntity, type SqlQueueWorkerRow } from './worker.entity.js';

/**
 * In this order: jobs, claims, history, queues, workers, producers, subscriptions, stages, waits, progress, logs, events, locks,
 * keys.
 */
export type SqlQueueEntities = readonly [
  EntitySchema<SqlQueueJobRow>,
  EntitySchema<SqlQueueClaimRow>,
  EntitySchema<SqlQueueHistoryRow>,
  EntitySchema<SqlQueueQueueRow>,
  EntitySchema<SqlQueueWorkerRow>,
  EntitySchema<SqlQueueProducerRow>,
  EntitySchema<SqlQueueSubscriptionRow>,
  EntitySchema<SqlQueueStageRow>,
  EntitySchema<SqlQueueWaitRow>,
  EntitySchema<SqlQueueProgressRow>,
  EntitySchema<SqlQueueLogRow>,
  EntitySchema<SqlQueueEventRow>,
  EntitySchema<SqlQueueLockRow>,
  EntitySchema<SqlQueueKeyRow>,
];

const made = new Map<string, SqlQueueEntities>();

/**
 * The library's tables as TypeORM entities, for an application that wants to read them with repositories of its own. The
 * same prefix always gives the same objects. They are never synchronized: the library's migrations make the tables.
 *
 * Named `SqlQueueJob`, `SqlQueueClaim`, `SqlQueueHistory`, `SqlQueueQueue`, `SqlQueueWorker`, `SqlQueueProducer`,
 * `SqlQueueSubscription`, `SqlQueueStage`, `SqlQueueWait`, `SqlQueueProgress`, `SqlQueueLog`, `SqlQueueEvent`, `SqlQueueLock` and `SqlQueueKey`, followed
 * by `_` and the prefix where that is not the default.
 *
 * @example
 * ```ts
 * const dataSource = new DataSource({ …, entities: [User, ...sqlQueueEntities()] });
 * await dataSource.getRepository<SqlQueueHistoryRow>('SqlQueueHistory').findBy({ queue: 'email.send', state: 'dead' });
 * ```
 */
export function sqlQueueEntities({ prefix = DEFAULT_PREFIX }: { prefix?: string } = {}): SqlQueueEntities {
  const known = made.get(prefix);
  if (known) return known;
  const tables = tableNames(prefix);
  const named = (name: string) => (prefix === DEFAULT_PREFIX ? name : `${name}_${prefix}`);
  const entities: SqlQueueEntities = [
    jobEntity(tables, named('SqlQueueJob')),
    claimEntity(tables, named('SqlQueueClaim')),
    historyEntity(tables, named('SqlQueueHistory')),
    queueEntity(tables, named('SqlQueueQueue')),
    workerEntity(tables, named('SqlQueueWorker')),
    producerEntity(tables, named('SqlQueueProducer')),
    subscriptionEntity(tables, named('SqlQueueSubscription')),
    stageEntity(tables, named('SqlQueueStage')),
    waitEntity(tables, named('SqlQueueWait')),
    progressEntity(tables, named('SqlQueueProgress')),
    logEntity(tables, named('SqlQueueLog')),
    eventEntity(tables, named('SqlQueueEvent')),
    lockEntity(tables, named('SqlQueueLock')),
    keyEntity(tables, named('SqlQueueKey')),
  ];
  made.set(prefix, entities);
  return entities;
}
