import { InvalidOptionsError } from '../job/errors.js';
import { expected, unknownKeys, requireOptions } from '../job/expectation.js';
import { checkQueueName } from '../job/identifiers.js';
import { subscriptionProblems, subscriptionsOf, type SubscriptionOptions } from '../job/topics.js';
import type { AdminParts } from './admin-parts.js';
import { requireQueue } from './require-queue.js';
import { partsFor, type ChangeOptions } from './in-transaction.js';

export async function subscribe(
  parts: AdminParts,
  queue: string,
  subscription: SubscriptionOptions,
  options: ChangeOptions,
): Promise<void> {
  checkQueueName(queue);
  const where = `Cannot subscribe "${queue}"`;
  const { topic, where: filter, ...unknown } = requireOptions(where, subscription, 'an object');
  InvalidOptionsError.throwIfAny(where, [
    ...unknownKeys(unknown, ['topic', 'where']),
    ...subscriptionProblems({ topic, where: filter }),
  ]);
  const call = { verb: 'subscribe', which: queue, options: subscription, queue } as const;
  const { audit, queues } = partsFor(parts, 'Cannot subscribe', options);
  await audit.change(call, (change) => queues.subscribe(queue, subscriptionsOf(subscription), change));
}

/** @param topic undefined: all topics of the queue */
export async function unsubscribe(
  parts: AdminParts,
  queue: string,
  topic: string | undefined,
  options: ChangeOptions,
): Promise<number> {
  checkQueueName(queue);
  InvalidOptionsError.throwIfAny(
    `Cannot unsubscribe "${queue}"`,
    Array.isArray(topic)
      ? [expected(false, 'one topic, or none to end all subscriptions', topic)]
      : subscriptionProblems({ topic: topic ?? '*' }),
  );
  const recorded = topic === undefined ? undefined : { topic };
  const call = { verb: 'unsubscribe', which: queue, options: recorded, queue } as const;
  const own = partsFor(parts, 'Cannot unsubscribe', options);
  await requireQueue(own, queue, '');
  const { audit, queues } = own;
  return audit.change(call, (change) => queues.unsubscribe(queue, topic, change));
}
