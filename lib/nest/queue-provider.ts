import type { FactoryProvider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { QueueAdmin } from '../admin/queue-admin.js';
import { InvalidOptionsError } from '../job/errors.js';
import { checkQueueName } from '../job/job-names.js';
import type { QueueName } from '../job/queue-jobs.js';
import type { QueueProducer } from '../producer/queue-producer.js';
import { Queue, type QueueAdminMethods, type QueueProducerMethods } from './queue.js';
import { getAdminToken, getProducerToken, getQueueToken } from './tokens.js';

export function queueProvider(queue: QueueName, instance: string | undefined): FactoryProvider<Queue> {
  checkQueueName(queue);
  return {
    provide: getQueueToken(queue, instance),
    useFactory: (moduleRef: ModuleRef, producer?: QueueProducer, admin?: QueueAdmin) =>
      new Queue(queue, producer ?? lazyProducer(moduleRef, instance), admin ?? lazyAdmin(moduleRef, instance)),
    inject: [
      ModuleRef,
      { token: getProducerToken(instance), optional: true },
      { token: getAdminToken(instance), optional: true },
    ],
  };
}

function lazyProducer(moduleRef: ModuleRef, instance: string | undefined): QueueProducerMethods {
  const find = lazyLookup<QueueProducer>(moduleRef, instance, getProducerToken(instance));
  return {
    enqueue: (queue, payload, options) => find().enqueue(queue, payload, options),
    enqueueMany: (queue, jobs, options) => find().enqueueMany(queue, jobs, options),
    request: (queue, payload, options) => find().request(queue, payload, options),
    cancel: (id) => find().cancel(id),
    waitFor: (id, options) => find().waitFor(id, options),
  };
}

function lazyAdmin(moduleRef: ModuleRef, instance: string | undefined): QueueAdminMethods {
  const find = lazyLookup<QueueAdmin>(moduleRef, instance, getAdminToken(instance));
  return {
    counts: (queue) => find().counts(queue),
    pause: (queue) => find().pause(queue),
    resume: (queue) => find().resume(queue),
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
