import type { OwnQueues } from '../admin/own-queues.js';
import { QueueAdmin } from '../admin/queue-admin.js';
import type { EngineBase } from './subsystems.js';
import { inRootContext } from '../common/async-context.js';
import { QueueConsumer } from '../consumer/queue-consumer.js';
import type { ConsumerParts } from '../consumer/consumer-parts.js';
import { isFinalOutcome } from '../job/outcome.js';
import { followOutcome, logFailure, type OutcomeFollowers } from '../worker/complete/outcome-effects.js';
import { Rescuer } from '../worker/complete/rescuer.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { explainedReply } from '../producer/explained-reply.js';
import { QueueProducer } from '../producer/queue-producer.js';
import { NO_OWN_QUEUES } from './own-queues.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import type { NewSchedule } from '../job/schedules/schedule.js';
import { subscriptionsOf, type Subscription } from '../job/topics.js';
import { HandlerTable } from '../worker/run/handler-table.js';
import { SqlQueueRunner } from '../worker/sql-queue-runner.js';
import type { WorkerParts } from '../worker/worker-parts.js';
import type { HeartbeatFactory } from './heartbeat-factory.js';
import { pruneTasks } from './prune-tasks.js';
import { QueueSchedules } from '../schedules/queue-schedules.js';

export function createAdmin(
  { core, stores, events, waits, notifier, settler, audit }: EngineBase,
  ownQueues: OwnQueues,
): QueueAdmin {
  return new QueueAdmin({
    ...stores,
    store: stores.admin,
    auditEntries: stores.audit,
    audit,
    clock: core.clock,
    content: core.codec && stores.content(core.codec),
    blobs: core.codec?.blobs,
    followEnds: async (ids, mayBeInFlow = true) => {
      for (const id of ids) waits.waitNotifier.notifyAlways(id);
      if (mayBeInFlow) await settler.settle(ids);
    },
    recheckFlows: (ids) => settler.recheck(ids),
    optionsFor: core.optionsFor,
    ownQueues,
    notifier,
    events: events.local,
  });
}

export function createConsumer(base: EngineBase) {
  const { core, stores, events, waits, notifier, settler, unserved, instrumentations } = base;
  const { clock, logger, random, optionsFor } = core;
  const followers: OutcomeFollowers = {
    // Without a worker this process does not poll, so it knows of no waiter.
    waitNotifier: { notifyEnded: ({ id }) => waits.waitNotifier.notifyAlways(id) },
    settler,
    announce: (queue, jobs) => notifier.wake(queue, jobs),
    expectDue: (queue, ms) => notifier.expectDue(queue, ms),
  };
  const rescuer = new Rescuer({
    ...followers,
    events: events.local,
    logger,
    random,
    clock,
    optionsFor,
    instrumentations,
    ownWork: {
      isHeld: (claimId) => notifier.ownWork?.isHeld(claimId) ?? false,
      isRunning: (claimId, jobId) => notifier.ownWork?.isRunning(claimId, jobId) ?? false,
    },
  });
  const ended: ConsumerParts['ended'] = (job, outcome, result, heldMs, owner) => {
    events.local.emitOutcome(job, outcome, result, heldMs, owner);
    instrumentations.ended(job, outcome, heldMs, null);
    logFailure(job, outcome, core);
    // The owner keeps the job, so no worker can claim it.
    if (heldMs === null && !isFinalOutcome(outcome)) return;
    void followOutcome(job, outcome, optionsFor(job.queue).deadLetter, followers);
  };
  return new QueueConsumer({
    store: stores.consumer,
    jobs: stores.jobs,
    optionsFor,
    random,
    clock,
    logger,
    claimed: (jobs, owner) => {
      events.local.emitClaimed(jobs, owner);
      for (const { queue } of jobs) unserved.settle(queue);
    },
    promoted: (jobs) => {
      events.local.emitChanges('promoted', jobs);
      // They may belong to queues that workers of other processes serve.
      for (const { queue } of jobs) notifier.wake(queue);
    },
    rescue: () => inRootContext(() => rescuer.rescue(stores.jobs)),
    ended,
  });
}

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
