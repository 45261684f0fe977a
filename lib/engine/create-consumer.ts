import { QueueConsumer } from '../consumer/queue-consumer.js';
import { JobEventEmitter } from '../events/job-event-emitter.js';
import { isFinalOutcome } from '../job/outcome.js';
import { FailureLog } from '../worker/complete/failure-log.js';
import { RescueEffects } from '../worker/complete/rescue-effects.js';
import type { EngineBase } from './subsystems.js';

export function createConsumer({ core, stores, events, waits, notifier, settler, metrics }: EngineBase): QueueConsumer {
  const { clock, logger, random, optionsFor } = core;
  const { instrumentations } = metrics;
  const jobEvents = new JobEventEmitter(events.local);
  const failureLog = new FailureLog(logger, optionsFor);
  const rescueEffects = new RescueEffects({
    events: events.local,
    waitNotifier: waits.waitNotifier,
    logger,
    failureLog,
    instrumentations,
    flowSettler: settler,
    announce: (queue, jobs) => notifier.wake(queue, jobs),
    expectDue: (queue, ms) => notifier.expectDue(queue, ms),
  });
  return new QueueConsumer({
    store: stores.consumer,
    jobs: stores.jobs,
    optionsFor,
    random,
    clock,
    logger,
    notifier,
    claimed: (jobs, owner) => jobEvents.emitClaimed(jobs, owner),
    promoted: (jobs) => jobEvents.emit('promoted', jobs),
    rescued: (rescued) => rescueEffects.onRescued(rescued),
    ended: (job, outcome, result, heldMs, owner) => {
      jobEvents.emitOutcome(job, outcome, result, heldMs, owner);
      instrumentations.ended(job, outcome, heldMs, null);
      failureLog.logFailure(job, outcome);
      if (isFinalOutcome(outcome)) waits.waitNotifier.notifyAlways(job.id);
      if (isFinalOutcome(outcome) && job.overrides?.flow !== undefined) void settler.settle([job.id]);
    },
  });
}
