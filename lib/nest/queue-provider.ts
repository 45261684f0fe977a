import type { FactoryProvider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { QueueAdmin } from '../admin/queue-admin.js';
import { InvalidOptionsError } from '../job/errors.js';
import type { QueueName } from '../job/queue-jobs.js';
import type { QueueProducer } from '../producer/queue-producer.js';
import { Queue } from './queue.js';
import { getAdminToken, getProducerToken, getQueueToken } from './tokens.js';

export function queueProvider(queue: QueueName, instance: string | undefined): FactoryProvider<Queue> {
  return {
    provide: getQueueToken(queue, instance),
    useFactory: (moduleRef: ModuleRef, producer?: QueueProducer, admin?: QueueAdmin) =>
      new Queue(
        queue,
        producer ? () => producer : lazyLookup(moduleRef, instance, getProducerToken(instance)),
        admin ? () => admin : lazyLookup(moduleRef, instance, getAdminToken(instance)),
      ),
    inject: [
      ModuleRef,
      { token: getProducerToken(instance), optional: true },
      { token: getAdminToken(instance), optional: true },
    ],
  };
}

/**
 * Finds a provider of a module instance that is not global, and therefore not visible here. Every call searches again,
 * because the provider may not exist before the end of the boot.
 */
function lazyLookup<T>(moduleRef: ModuleRef, instance: string | undefined, token: string | object): () => T {
  const find = () => moduleRef.get<T>(token as string, { strict: false });
  try {
    find();
  } catch {
    const missing = `SqlQueueModule.forRoot(${instance ? `{ name: '${instance}' }` : ''})`;
    throw new InvalidOptionsError('SqlQueueModule.forFeature()', [`expected ${missing} in the application, got none`]);
  }
  return find;
}
