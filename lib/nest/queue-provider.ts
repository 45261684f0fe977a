import type { FactoryProvider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { QueueAdmin } from '../admin/queue-admin.js';
import { InvalidOptionsError } from '../job/errors.js';
import { checkQueueName } from '../job/job-names.js';
import type { QueueName } from '../job/queue-jobs.js';
import type { QueueProducer } from '../producer/queue-producer.js';
import { Queue, type AdministersQueue, type ProducesForQueue } from './queue.js';
import { getAdminToken, getProducerToken, getQueueToken } from './tokens.js';

/** The provider of `@InjectQueue(queue, { instance })`. */
export function queueProvider(queue: QueueName, instance: string | undefined): FactoryProvider<Queue> {
  checkQueueName(queue);
  return {
    provide: getQueueToken(queue, instance),
    useFactory: (moduleRef: ModuleRef, producer?: QueueProducer, admin?: QueueAdmin) =>
      new Queue(
        queue,
        producer ?? producerOutOfSight(moduleRef, instance),
        admin ?? adminOutOfSight(moduleRef, instance),
      ),
    inject: [
      ModuleRef,
      { token: getProducerToken(instance), optional: true },
      { token: getAdminToken(instance), optional: true },
    ],
  };
}

function producerOutOfSight(moduleRef: ModuleRef, instance: string | undefined): ProducesForQueue {
  const find = outOfSight<QueueProducer>(moduleRef, instance, getProducerToken(instance));
  return {
    enqueue: (queue, payload, options) => find().enqueue(queue, payload, options),
    enqueueMany: (queue, jobs, options) => find().enqueueMany(queue, jobs, options),
    request: (queue, payload, options) => find().request(queue, payload, options),
    cancel: (id) => find().cancel(id),
    waitFor: (id, options) => find().waitFor(id, options),
  };
}

function adminOutOfSight(moduleRef: ModuleRef, instance: string | undefined): AdministersQueue {
  const find = outOfSight<QueueAdmin>(moduleRef, instance, getAdminToken(instance));
  return {
    counts: (queue) => find().counts(queue),
    pause: (queue) => find().pause(queue),
    resume: (queue) => find().resume(queue),
  };
}

/**
 * Looks up a provider of an instance whose module is not global, and so not visible here. Every use looks it up again: it may
 * not exist before the boot is over.
 */
function outOfSight<T>(moduleRef: ModuleRef, instance: string | undefined, token: string | object): () => T {
  const find = () => moduleRef.get<T>(token as string, { strict: false });
  try {
    find();
  } catch {
    const missing = `SqlQueueModule.forRoot(${instance ? `{ name: '${instance}' }` : ''})`;
    throw new InvalidOptionsError('SqlQueueModule.forFeature()', [`expected ${missing} in the application, got none`]);
  }
  return find;
}
