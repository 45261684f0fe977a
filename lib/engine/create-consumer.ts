import { inRootContext } from '../common/async-context.js';
import { QueueConsumer } from '../consumer/queue-consumer.js';
import type { ConsumerParts } from '../consumer/consumer-parts.js';
import { isClaimableAtOnce, isFinalOutcome } from '../job/outcome.js';
import { logFailure } from '../worker/complete/failure-log.js';
import { Rescuer } from '../worker/complete/rescuer.js';
import type { EngineBase } from './subsystems.js';

export function createConsumer(base: EngineBase) {
  const { core, stores, events, waits, notifier, settler, unserved, instrumentations } = base;
  const { clock, logger, random, optionsFor } = core;
  const rescuer = new Rescuer({
    events: events.local,
    waitNotifier: waits.waitNotifier,
    logger,
    random,
    clock,
    optionsFor,
    instrumentations,
    settler,
    ownWork: {
      isHeld: (claimId) => notifier.ownWork?.isHeld(claimId) ?? false,
      isRunning: (claimId, jobId) => notifier.ownWork?.isRunning(claimId, jobId) ?? false,
    },
    announce: (queue, jobs) => notifier.wake(queue, jobs),
    expectDue: (queue, ms) => notifier.expectDue(queue, ms),
  });
  const ended: ConsumerParts['ended'] = (job, outcome, result, heldMs, owner) => {
    events.local.emitOutcome(job, outcome, result, heldMs, owner);
    instrumentations.ended(job, outcome, heldMs, null);
    logFailure(job, outcome, core);
    if (isFinalOutcome(outcome)) waits.waitNotifier.notifyAlways(job.id);
    if (isFinalOutcome(outcome) && job.overrides?.flow !== undefined) void settler.settle([job.id]);
    // The owner keeps the job, so no worker can claim it.
    if (heldMs === null) return;
    const { deadLetter } = optionsFor(job.queue);
    if (outcome.kind === 'dead' && deadLetter) notifier.wake(deadLetter);
    if (isClaimableAtOnce(outcome)) notifier.wake(job.queue);
    if (outcome.kind === 'retry' || outcome.kind === 'snooze') notifier.expectDue(job.queue, outcome.delayMs);
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
