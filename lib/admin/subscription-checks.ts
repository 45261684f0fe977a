import { InvalidOptionsError } from '../job/errors.js';
import { expected, unknownKeys } from '../job/expectation.js';
import { checkQueueName } from '../job/job-names.js';
import { requireOptions } from '../job/option-schema.js';
import { subscriptionProblems, type SubscriptionOptions } from '../job/topics.js';

export function checkSubscription(queue: string, given: SubscriptionOptions): void {
  checkQueueName(queue);
  const where = `Cannot subscribe "${queue}"`;
  const { topic, where: filter, ...unknown } = requireOptions(where, given, 'an object');
  InvalidOptionsError.throwIfAny(where, [
    ...unknownKeys(unknown, ['topic', 'where']),
    ...subscriptionProblems({ topic, where: filter }),
  ]);
}

export function checkUnsubscribe(queue: string, topic: string | undefined): void {
  checkQueueName(queue);
  InvalidOptionsError.throwIfAny(
    `Cannot unsubscribe "${queue}"`,
    Array.isArray(topic)
      ? [expected(false, 'one topic, or none to end all subscriptions', topic)]
      : subscriptionProblems({ topic: topic ?? '*' }),
  );
}
