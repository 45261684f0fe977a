import { resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';
import { QueueProducer, type Following } from '../../lib/producer/queue-producer.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { systemClock } from '../../lib/time/clock.js';

/** A producer on a store without a worker. */
export function producerOn(
  { jobs, queues }: Pick<OpenStore, 'jobs' | 'queues'>,
  optionsOf: (queue: string) => QueueOptions = () => ({}),
): QueueProducer {
  return new QueueProducer({
    ...{ store: jobs, queueStore: queues, clock: systemClock },
    optionsFor: (queue) => resolveQueueOptions(optionsOf(queue)),
    hints: { foresee: () => undefined, wake: () => undefined, expectDue: () => undefined, expectAt: () => undefined },
    events: { tell: () => undefined },
    // Nothing it puts in is asked after.
    following: {} as Following,
  });
}
