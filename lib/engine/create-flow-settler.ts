import { JobEventEmitter } from '../events/job-event-emitter.js';
import { FlowSettler } from '../worker/complete/flow-settler.js';
import type { EngineBase } from './subsystems.js';

export function createFlowSettler({
  core,
  stores,
  events,
  waits,
  notifier,
}: Omit<EngineBase, 'settler' | 'metrics' | 'audit'>): FlowSettler {
  return new FlowSettler({
    flows: stores.flows,
    retentionOf: (queue) => core.optionsFor(queue).retention.deadMs,
    events: new JobEventEmitter(events.local),
    waitNotifier: waits.waitNotifier,
    notifier,
  });
}
