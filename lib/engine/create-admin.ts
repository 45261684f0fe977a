import type { OwnQueues } from '../admin/own-queues.js';
import { QueueAdmin } from '../admin/queue-admin.js';
import type { EngineBase } from './subsystems.js';

export function createAdmin(
  { core, stores, events, waits, notifier, settler, audit }: EngineBase,
  ownQueues: OwnQueues,
): QueueAdmin {
  return new QueueAdmin({
    clock: core.clock,
    audit,
    auditEntries: stores.audit,
    store: stores.admin,
    stats: stores.stats,
    metrics: stores.metrics,
    jobs: stores.jobs,
    queues: stores.queues,
    limits: stores.limits,
    groups: stores.groups,
    flows: stores.flows,
    steps: stores.steps,
    subjects: stores.subjects,
    content: core.codec && stores.content(core.codec),
    blobs: core.codec?.blobs,
    flowSettler: settler,
    optionsFor: core.optionsFor,
    ownQueues,
    notifier,
    waitNotifier: waits.waitNotifier,
    events: events.local,
  });
}
