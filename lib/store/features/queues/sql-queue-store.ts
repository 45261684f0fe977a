import { runChange } from '../audit/run-change.js';
import type { StoreParts } from '../../rows/store-parts.js';
import {
  diffDeclarations,
  declareQueue,
  findExpiredQueues,
  expireQueue,
  subscribe,
  markQueuesUsed,
} from './queue-registration.js';
import type { QueueStore } from './queue-store.js';
import { readService } from './read-service.js';
import { deleteSubscriptions, findSubscribers, listSubscriptions } from './subscriptions.js';

export function sqlQueueStore({ database, blocking, dialect }: StoreParts): QueueStore {
  return {
    async declare(queues) {
      const { toWrite, undeclared } = await database.runIdempotent(() => diffDeclarations(queues));
      for (const queue of toWrite) await blocking.transaction(() => declareQueue(dialect, queue));
      return undeclared;
    },

    markUsed: (queues) => blocking.runIdempotent(() => markQueuesUsed(queues)),

    async expire() {
      const expired: string[] = [];
      for (const queue of await database.runIdempotent(findExpiredQueues))
        if (await database.transaction(() => expireQueue(queue))) expired.push(queue);
      return expired;
    },

    subscribers: (topic, transaction) => database.readLatest(() => findSubscribers(topic), transaction),
    subscribe: (queue, subscriptions, change) =>
      runChange(blocking, change, () => subscribe(dialect, queue, subscriptions)),
    unsubscribe: (queue, topic, change) => runChange(blocking, change, () => deleteSubscriptions(queue, topic), Number),
    readService: (queues) => database.runIdempotent(() => readService(queues)),
    subscriptions: () => database.runIdempotent(listSubscriptions),
  };
}
