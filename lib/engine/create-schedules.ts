import { QueueSchedules } from '../schedules/queue-schedules.js';
import type { EngineBase } from './subsystems.js';

export function createSchedules({ core, stores, events, notifier, audit }: EngineBase): QueueSchedules {
  return new QueueSchedules({
    audit,
    store: stores.schedules,
    jobs: stores.jobs,
    optionsFor: core.optionsFor,
    notifier,
    emitEnqueued: (job) => events.local.emitChanges('enqueued', [job]),
    now: () => core.clock.now(),
  });
}
