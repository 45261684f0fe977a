import type { Subscription } from '../../job/topics.js';
import type { CallerTransaction } from '../core/caller-transaction.js';
import type { Change } from '../audit/audit-store.js';
import { runChange } from '../audit/run-change.js';
import type * as port from './queue-store.js';
import {
  diffDeclarations,
  declareQueue,
  findExpiredQueues,
  expireQueue,
  subscribe,
  markQueuesUsed,
} from './queue-registration.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { deleteSubscriptions, findSubscribers, listSubscriptions } from './subscriptions.js';

export class SqlQueueStore implements port.QueueStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Dialect,
  ) {}

  async declare(queues: readonly port.DeclaredQueue[]): Promise<port.SubscriptionRecord[]> {
    const { toWrite, undeclared } = await this.database.runIdempotent(() => diffDeclarations(queues));
    for (const queue of toWrite) await this.database.transaction(() => declareQueue(this.dialect, queue));
    return undeclared;
  }

  markUsed(queues: readonly string[]): Promise<boolean> {
    return this.database.runIdempotent(() => markQueuesUsed(queues));
  }

  async expire(): Promise<string[]> {
    const expired: string[] = [];
    for (const queue of await this.database.runIdempotent(() => findExpiredQueues())) {
      if (await this.database.transaction(() => expireQueue(queue))) expired.push(queue);
    }
    return expired;
  }

  subscribers(topic: string, transaction?: CallerTransaction): Promise<port.Subscriber[]> {
    return this.database.readLatest(() => findSubscribers(topic), transaction);
  }

  subscribe(queue: string, subscriptions: readonly Subscription[], change: Change = {}): Promise<void> {
    return runChange(
      this.database,
      change,
      () => subscribe(this.dialect, queue, subscriptions),
      () => 1,
    );
  }

  unsubscribe(queue: string, topic?: string, change: Change = {}): Promise<number> {
    return runChange(this.database, change, () => deleteSubscriptions(queue, topic), Number);
  }

  subscriptions(): Promise<port.SubscriptionRecord[]> {
    return this.database.runIdempotent(() => listSubscriptions());
  }
}
