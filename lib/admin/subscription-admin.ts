import { subscriptionsOf, type SubscriptionOptions } from '../job/topics.js';
import type { SubscriptionRecord } from '../store/topics/queue-store.js';
import type { AdminParts } from './admin-parts.js';
import { partsFor, type ChangeOptions } from './in-transaction.js';
import { JobAdmin } from './job-admin.js';
import { checkSubscription, checkUnsubscribe } from './subscription-checks.js';

/** The part of QueueAdmin that reads and changes subscriptions. */
export abstract class SubscriptionAdmin extends JobAdmin {
  readonly #parts: AdminParts;

  constructor(parts: AdminParts) {
    super(parts);
    this.#parts = parts;
  }

  /**
   * Subscribes the queue to topics: from now on it gets a copy of each message with a matching topic, even if no worker
   * serves the queue yet. A subscription to the same topic is replaced. `@QueueProcessor(queue, { topic })` subscribes
   * the queue of a handler. In your transaction the subscription begins with the commit.
   *
   * @example
   * ```ts
   * await admin.subscribe('audit.log', { topic: ['user.*', 'order.*'], where: { region: ['eu', 'uk'] } });
   * ```
   */
  async subscribe(queue: string, subscription: SubscriptionOptions, options: ChangeOptions = {}): Promise<void> {
    checkSubscription(queue, subscription);
    const call = { verb: 'subscribe', which: queue, options: subscription, queue } as const;
    const { audit, queues } = partsFor(this.#parts, 'Cannot subscribe', options);
    await audit.change(call, (change) => queues.subscribe(queue, subscriptionsOf(subscription), change));
  }

  /**
   * Removes the subscription of the queue to a topic, written as it was subscribed, or all its subscriptions. Resolves
   * with the number of removed subscriptions. Copies in the queue stay. A worker whose handler declares the topic
   * subscribes again when it starts.
   */
  async unsubscribe(queue: string, topic?: string, options: ChangeOptions = {}): Promise<number> {
    checkUnsubscribe(queue, topic);
    const recorded = topic === undefined ? undefined : { topic };
    const call = { verb: 'unsubscribe', which: queue, options: recorded, queue } as const;
    const { audit, queues } = partsFor(this.#parts, 'Cannot unsubscribe', options);
    return audit.change(call, (change) => queues.unsubscribe(queue, topic, change));
  }

  /** The subscriptions of all queues, by queue and topic. */
  subscriptions(): Promise<SubscriptionRecord[]> {
    return this.#parts.queues.subscriptions();
  }
}
