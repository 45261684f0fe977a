import type { ProcessorOptions } from '../job/processor-options.js';
import type { NewSchedule } from '../job/schedules/schedule.js';
import { subscriptionsOf, type Subscription } from '../job/topics.js';
import { HandlerTable } from '../worker/run/handler-table.js';
import { SqlQueueRunner } from '../worker/sql-queue-runner.js';
import type { WorkerParts } from '../worker/worker-parts.js';
import type { HeartbeatFactory } from './heartbeat-factory.js';
import { pruneTasks } from './prune-tasks.js';
import type { EngineBase } from './subsystems.js';

export function createRunner(base: EngineBase, createHeartbeat: HeartbeatFactory | undefined) {
  const { core, stores, events, waits, notifier, settler } = base;
  const handlers = new HandlerTable();
  const subscriptions = new Map<string, readonly Subscription[]>();
  const { revision, keepUndeclared } = core.schedules;
  const schedules = { declared: new Map<string, NewSchedule>(), revision };
  const parts: WorkerParts = {
    ...core,
    ...base,
    events: events.local,
    waitNotifier: waits.waitNotifier,
    createHeartbeat,
    handlers,
    subscriptions,
    codeSchedules: schedules,
    pruneTasks: pruneTasks(stores, notifier, settler, schedules, keepUndeclared, core),
    defineQueue: (queue: string, given: ProcessorOptions) => {
      const { batch: _, topic, where, ...options } = given;
      core.settings.setRuntimeOptions(queue, options);
      if (topic === undefined) subscriptions.delete(queue);
      else subscriptions.set(queue, subscriptionsOf({ topic, ...(where === undefined ? {} : { where }) }));
    },
  };
  return { runner: new SqlQueueRunner(parts, notifier), handlers, subscriptions, schedules: schedules.declared };
}
