import { QueueAdmin } from '../admin/queue-admin.js';
import { QueueConsumer } from '../consumer/queue-consumer.js';
import { QueueProducer } from '../producer/queue-producer.js';
import { SqlQueueRunner } from '../runtime/sql-queue-runner.js';

// Strings and not symbols: two copies of the package (ESM and CommonJS) then mean the same.
const named = (what: string, instance: string) => `SqlQueue:${instance}:${what}`;

/** The token of `@InjectQueue(queue)`, for tests and custom providers. */
export function getQueueToken(queue: string, instance = ''): string {
  return named(`Queue:${queue}`, instance);
}

/** The token of the options that `forFeature()` gives a queue. */
export function getQueueOptionsToken(queue: string, instance = ''): string {
  return named(`QueueOptions:${queue}`, instance);
}

/** The token of a QueueProducer: the class itself, but for named instances of the module. */
export function getProducerToken(instance?: string): string | typeof QueueProducer {
  return instance ? named('QueueProducer', instance) : QueueProducer;
}

/** The token of a QueueAdmin: the class itself, but for named instances of the module. */
export function getAdminToken(instance?: string): string | typeof QueueAdmin {
  return instance ? named('QueueAdmin', instance) : QueueAdmin;
}

/** The token of a QueueConsumer: the class itself, but for named instances of the module. */
export function getConsumerToken(instance?: string): string | typeof QueueConsumer {
  return instance ? named('QueueConsumer', instance) : QueueConsumer;
}

/** The token of a SqlQueueRunner: the class itself, but for named instances of the module. */
export function getRunnerToken(instance?: string): string | typeof SqlQueueRunner {
  return instance ? named('SqlQueueRunner', instance) : SqlQueueRunner;
}

export function getEngineToken(instance = ''): string {
  return named('Engine', instance);
}

/** The name of the module's instance whose engine the token stands for; undefined for other tokens. */
export function instanceOfEngineToken(token: unknown): string | undefined {
  return typeof token === 'string' ? /^SqlQueue:(.*):Engine$/.exec(token)?.[1] : undefined;
}

export function getOptionsToken(instance = ''): string {
  return named('Options', instance);
}
