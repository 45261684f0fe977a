import type { FactoryProvider, ValueProvider } from '@nestjs/common';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { InvalidOptionsError } from '../job/errors.js';
import { isOptions, formatValue, unknownKeys } from '../job/expectation.js';
import { checkQueueName } from '../job/job-names.js';
import type { QueueName } from '../job/queue-jobs.js';
import { queueOptionProblems, type QueueOptions } from '../job/queue-options.js';
import type { InstanceOptions } from './metadata.js';
import { queueProvider } from './queue-provider.js';
import { getQueueOptionsToken } from './tokens.js';

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
