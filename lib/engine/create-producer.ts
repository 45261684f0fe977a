import { AuditTrail } from '../audit/audit-trail.js';
import { explainedReply } from '../producer/explained-reply.js';
import { QueueProducer } from '../producer/queue-producer.js';
import { createAdmin } from './create-admin.js';
import { NO_OWN_QUEUES } from './own-queues.js';
import type { EngineBase } from './subsystems.js';

export function createProducer(base: EngineBase) {
  const { core, stores, events, waits, notifier, unserved, instrumentations } = base;
  const { waiter } = waits;
  // A producer cancels its own jobs, which is no act of an administrator.
  const admin = createAdmin({ ...base, audit: new AuditTrail(undefined) }, NO_OWN_QUEUES);
  const cancel = (id: number) => admin.cancel(id);
  return new QueueProducer({
    store: stores.jobs,
    queueStore: stores.queues,
    steps: stores.steps,
    flows: stores.flows,
    optionsFor: core.optionsFor,
    notifier,
    unserved,
    clock: core.clock,
    instrumentations: instrumentations.ofProducers,
    tracker: {
      cancel,
      waitFor: (id, options) => waiter.waitFor(id, options),
      waitForReply: (id, queue, options) =>
        explainedReply(waiter.waitForReply(id, queue, options, cancel), queue, notifier),
    },
    events: events.local,
  });
}
