import { resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';
import type { JobTracker } from '../../lib/producer/producer-parts.js';
import { QueueProducer } from '../../lib/producer/queue-producer.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { systemClock } from '../../lib/common/clock.js';

/** A producer on a store without a worker. */
export function openProducer(
  { jobs, queues, steps, flows }: Pick<OpenStore, 'jobs' | 'queues' | 'steps' | 'flows'>,
  optionsOf: (queue: string) => QueueOptions = () => ({}),
): QueueProducer {
  return new QueueProducer({
    ...{ store: jobs, queueStore: queues, steps, flows, clock: systemClock },
    optionsFor: (queue) => resolveQueueOptions(optionsOf(queue)),
    notifier: {
      serves: () => true,
      prepare: () => undefined,
      wake: () => undefined,
      expectDue: () => undefined,
      expectAt: () => undefined,
    },
    events: { hasAnyListener: false, emitChanges: () => undefined },
    // No test waits for its jobs.
    tracker: {} as JobTracker,
  });
}
