import type { Subscription } from '../../job/topics.js';
import type { CallerTransaction } from '../job-store.js';
import type * as port from '../queue-store.js';
import type { Dialect } from './dialect.js';
import { compare, declareQueue, expiredQueues, expireQueue, subscribe, useQueues } from './queue-life.js';
import type { SqlDatabase } from './sql-database.js';
import { endSubscriptions, subscribers, subscriptions } from './subscriptions.js';

/** The port, over any database: which verb is which work, and whether it may be done twice. */
export class SqlQueueStore implements port.QueueStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Dialect,
  ) {}

  async declare(queues: readonly port.DeclaredQueue[]): Promise<port.SubscriptionRecord[]> {
    const { toWrite, unspoken } = await this.database.repeatable(() => compare(queues));
    for (const queue of toWrite) await this.database.transaction(() => declareQueue(this.dialect, queue));
    return unspoken;
  }

  use(queues: readonly string[]): Promise<boolean> {
    return this.database.repeatable(() => useQueues(queues));
  }

  async expire(): Promise<string[]> {
    const expired: string[] = [];
    for (const queue of await this.database.repeatable(() => expiredQueues())) {
      if (await this.database.transaction(() => expireQueue(queue))) expired.push(queue);
    }
    return expired;
  }

  subscribers(topic: string, transaction?: CallerTransaction): Promise<port.Subscriber[]> {
    return this.database.latest(() => subscribers(topic), transaction);
  }

  subscribe(queue: string, wanted: readonly Subscription[]): Promise<void> {
    return this.database.transaction(() => subscribe(this.dialect, { queue, subscriptions: wanted }));
  }

  unsubscribe(queue: string, topic?: string): Promise<number> {
    return this.database.transaction(() => endSubscriptions(queue, topic));
  }

  subscriptions(): Promise<port.SubscriptionRecord[]> {
    return this.database.repeatable(() => subscriptions());
  }
}
