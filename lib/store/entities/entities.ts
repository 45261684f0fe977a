import type { EntitySchema } from 'typeorm';
import { DEFAULT_PREFIX, tableNames } from '../tables.js';
import { claimEntity } from './claim.entity.js';
import { eventEntity } from './event.entity.js';
import { historyEntity } from './history.entity.js';
import { jobEntity } from './job.entity.js';
import { lockEntity } from './lock.entity.js';
import { logEntity } from './log.entity.js';
import { keyEntity } from './key.entity.js';
import { producerEntity } from './producer.entity.js';
import { progressEntity } from './progress.entity.js';
import { queueEntity } from './queue.entity.js';
import { stageEntity } from './stage.entity.js';
import { subscriptionEntity } from './subscription.entity.js';
import { waitEntity } from './wait.entity.js';
import { workerEntity } from './worker.entity.js';

const made = new Map<string, readonly EntitySchema[]>();

/**
 * The library's tables as TypeORM entities, for an application that wants to read them with repositories of its own. The
 * same prefix always gives the same entities, in a new array. They are never synchronized: the library's migrations make the tables.
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
export function sqlQueueEntities({ prefix = DEFAULT_PREFIX }: { prefix?: string } = {}): EntitySchema[] {
  const known = made.get(prefix);
  if (known) return [...known];
  const tables = tableNames(prefix);
  const named = (name: string) => (prefix === DEFAULT_PREFIX ? name : `${name}_${prefix}`);
  const entities: EntitySchema[] = [
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
  return [...entities];
}
