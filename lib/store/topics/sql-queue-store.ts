import { runChange } from '../audit/run-change.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import {
  diffDeclarations,
  declareQueue,
  findExpiredQueues,
  expireQueue,
  subscribe,
  markQueuesUsed,
} from './queue-registration.js';
import type { QueueStore } from './queue-store.js';
import { deleteSubscriptions, findSubscribers, listSubscriptions } from './subscriptions.js';

export function sqlQueueStore(database: SqlDatabase, dialect: Dialect): QueueStore {
  return {
    async declare(queues) {
      const { toWrite, undeclared } = await database.runIdempotent(() => diffDeclarations(queues));
      for (const queue of toWrite) await database.transaction(() => declareQueue(dialect, queue));
      return undeclared;
    },

    markUsed: (queues) => database.runIdempotent(() => markQueuesUsed(queues)),

    async expire() {
      const expired: string[] = [];
      for (const queue of await database.runIdempotent(findExpiredQueues))
        if (await database.transaction(() => expireQueue(queue))) expired.push(queue);
      return expired;
    },

    subscribers: (topic, transaction) => database.readLatest(() => findSubscribers(topic), transaction),
    subscribe: (queue, subscriptions, change = {}) =>
      runChange(
        database,
        change,
        () => subscribe(dialect, queue, subscriptions),
        () => 1,
      ),
    unsubscribe: (queue, topic, change = {}) =>
      runChange(database, change, () => deleteSubscriptions(queue, topic), Number),
    subscriptions: () => database.runIdempotent(listSubscriptions),
  };
}
