import { QueueConsumer } from '../consumer/queue-consumer.js';
import { isFinalOutcome } from '../job/outcome.js';
import { logFailure } from '../worker/complete/failure-log.js';
import { RescueEffects } from '../worker/complete/rescue-effects.js';
import type { EngineBase } from './subsystems.js';

export function createConsumer({ core, stores, events, waits, notifier, settler, metrics }: EngineBase): QueueConsumer {
  const { clock, logger, random, optionsFor } = core;
  const { instrumentations } = metrics;
  const rescueEffects = new RescueEffects({
    events: events.local,
    waitNotifier: waits.waitNotifier,
    logger,
    optionsFor,
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
    claimed: (jobs, owner) => events.local.emitClaimed(jobs, owner),
    promoted: (jobs) => events.local.emit('promoted', jobs),
    rescued: (rescued) => rescueEffects.onRescued(rescued),
    ended: (job, outcome, result, heldMs, owner) => {
      events.local.emitOutcome(job, outcome, result, heldMs, owner);
      instrumentations.ended(job, outcome, heldMs, null);
      logFailure(job, outcome, core);
      if (isFinalOutcome(outcome)) waits.waitNotifier.notifyAlways(job.id);
      if (isFinalOutcome(outcome) && job.overrides?.flow !== undefined) void settler.settle([job.id]);
    },
  });
}
