import type { FactoryProvider, ValueProvider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { QueueAdmin } from '../admin/queue-admin.js';
import { InvalidOptionsError } from '../job/errors.js';
import { isOptions, unknownKeys } from '../job/expectation.js';
import { formatValue } from '../common/message-text.js';
import { checkQueueName } from '../job/identifiers.js';
import type { QueueName } from '../job/queue-jobs.js';
import { queueOptionProblems, type QueueOptions } from '../job/queue-options.js';
import type { QueueProducer } from '../producer/queue-producer.js';
import type { InstanceOptions } from './decorators.js';
import { findProvider } from './find-provider.js';
import { Queue } from './queue.js';
import { getAdminToken, getProducerToken, getQueueOptionsToken, getQueueToken } from './tokens.js';

const PLACE = 'SqlQueueModule.forFeature()';

/** A queue of `forFeature()`: its name, or its name and its options. They have the precedence of decorator options. */
export type FeatureQueue = QueueName | ({ name: QueueName } & QueueOptions);

export function featureProviders(
  given: FeatureQueue | readonly FeatureQueue[],
  of: InstanceOptions,
): (FactoryProvider | ValueProvider)[] {
  if (!isOptions(of)) {
    throw new InvalidOptionsError(PLACE, [
      `expected several queues in one array, got a further argument ${formatValue(of)}`,
    ]);
  }
  const { instance } = of;
  InvalidOptionsError.throwIfAny(PLACE, unknownKeys(of, ['instance']));
  const queues = Array.isArray(given) ? (given as readonly FeatureQueue[]) : [given as FeatureQueue];
  return queues.flatMap((queue) => {
    const { name, ...options } = isOptions(queue) ? queue : { name: queue };
    if (name === undefined)
      throw new InvalidOptionsError(PLACE, [
        'expected the name of a queue, got none. The options of the module belong to SqlQueueModule.forRoot()',
      ]);
    checkQueueName(name);
    InvalidOptionsError.throwIfAny(`${PLACE}: queue "${name}"`, queueOptionProblems(options, name));
    const handle = queueProvider(name, instance);
    if (Object.keys(options).length === 0) return [handle];
    return [handle, { provide: getQueueOptionsToken(name, instance), useValue: options }];
  });
}

/** The queue options in all `forFeature()` calls for the instance. A queue may occur several times. */
export function featureOptions(wrappers: readonly InstanceWrapper[], instance = ''): [string, QueueOptions][] {
  const prefix = getQueueOptionsToken('', instance);
  return wrappers.flatMap(({ token, instance: value }) =>
    typeof token === 'string' && token.startsWith(prefix)
      ? [[token.slice(prefix.length), value as QueueOptions] satisfies [string, QueueOptions]]
      : [],
  );
}

function queueProvider(queue: QueueName, instance: string | undefined): FactoryProvider<Queue> {
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
  const find = () => findProvider<T>(moduleRef, token, instance, PLACE);
  find();
  return find;
}
