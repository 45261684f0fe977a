import { QueueAdmin } from '../admin/queue-admin.js';
import { QueueConsumer } from '../consumer/queue-consumer.js';
import { QueueProducer } from '../producer/queue-producer.js';
import { QueueSchedules } from '../schedules/queue-schedules.js';
import { SqlQueueRunner } from '../worker/sql-queue-runner.js';

// Strings, not symbols, so that the ESM and CommonJS copies of the package share the tokens.
const instanceToken = (part: string, instance: string) => `SqlQueue:${instance}:${part}`;

/**
 * The token of `@InjectQueue(queue)`, for tests and custom providers. It is the import that provides the queue, because
 * the message of Nest about a missing provider consists of its token.
 */
export function getQueueToken(queue: string, instance = ''): string {
  return `${FEATURE}${queue}${endOfQueueToken(instance)}`;
}

/** Undefined if the token is not that of a queue of the instance. */
export function queueOfToken(token: unknown, instance = ''): string | undefined {
  const end = endOfQueueToken(instance);
  return typeof token === 'string' && token.startsWith(FEATURE) && token.endsWith(end)
    ? token.slice(FEATURE.length, -end.length)
    : undefined;
}

const FEATURE = `SqlQueueModule.forFeature('`;
const endOfQueueToken = (instance: string) => (instance ? `', { instance: '${instance}' })` : `')`);

export function getQueueOptionsToken(queue: string, instance = ''): string {
  return instanceToken(`QueueOptions:${queue}`, instance);
}

/** The token of a QueueProducer: the class, or a string for named instances of the module. */
export function getProducerToken(instance?: string): string | typeof QueueProducer {
  return instance ? instanceToken('QueueProducer', instance) : QueueProducer;
}

/** The token of a QueueAdmin: the class, or a string for named instances of the module. */
export function getAdminToken(instance?: string): string | typeof QueueAdmin {
  return instance ? instanceToken('QueueAdmin', instance) : QueueAdmin;
}

/** The token of a QueueConsumer: the class, or a string for named instances of the module. */
export function getConsumerToken(instance?: string): string | typeof QueueConsumer {
  return instance ? instanceToken('QueueConsumer', instance) : QueueConsumer;
}

/** The token of a QueueSchedules: the class, or a string for named instances of the module. */
export function getSchedulesToken(instance?: string): string | typeof QueueSchedules {
  return instance ? instanceToken('QueueSchedules', instance) : QueueSchedules;
}

/** The token of a SqlQueueRunner: the class, or a string for named instances of the module. */
export function getRunnerToken(instance?: string): string | typeof SqlQueueRunner {
  return instance ? instanceToken('SqlQueueRunner', instance) : SqlQueueRunner;
}

export function getEngineToken(instance = ''): string {
  return instanceToken('Engine', instance);
}

/** Undefined if the token is not that of an engine; '' for the instance without a name. */
export function instanceOfEngineToken(token: unknown): string | undefined {
  return typeof token === 'string' ? /^SqlQueue:(.*):Engine$/.exec(token)?.[1] : undefined;
}

export function getOptionsToken(instance = ''): string {
  return instanceToken('Options', instance);
}
