import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import type { Completion } from '../../lib/store/rows/completion.js';
import { ActiveClaim } from '../../lib/worker/queue/active-claim.js';
import { Slots } from '../../lib/worker/queue/plan.js';
import { QueueWorker } from '../../lib/worker/queue/queue-worker.js';
import type { WorkerContext } from '../../lib/worker/queue/worker-context.js';
import { FakeClock } from '../support/fake-clock.js';
import { claimRequest, claimedJob, LEASE_MS } from '../support/jobs.js';

// A job without a handler is snoozed when it starts, which shows the order in which jobs start.
function workerOf(ids: readonly number[]) {
  const started: number[] = [];
  const onCheck: (() => void)[] = [];
  const clock = new FakeClock();
  const context = {
    clock,
    logger: { warn: () => undefined },
    optionsFor: () => resolveQueueOptions(),
    handlers: { of: () => ({ named: new Map() }), maxBatchSize: () => 1 },
    instrumentations: {},
    slots: new Slots(1),
    lock: { id: undefined },
    ownClaims: { remove: () => undefined },
    leases: {
      /** The check of an expired lease receives what the heartbeat has found out meanwhile. */
      confirmExpiry: (claim: ActiveClaim) => {
        claim.extendLease(clock.monotonic());
        onCheck.shift()?.();
        return false;
      },
    },
    completer: {
      complete: (_: ActiveClaim, { job, outcome }: Completion) => {
        if (outcome.kind === 'snooze') started.push(job.id);
      },
    },
    queues: { onIdle: () => undefined },
  } as unknown as WorkerContext;
  const worker = new QueueWorker(context, 'q', { name: 'lock', mayShareTransaction: false });
  worker.setOpen(true, false);
  const jobs = ids.map((id) => claimedJob({ id }));
  const claim = new ActiveClaim(claimRequest({ startLimit: ids.length }), jobs, -LEASE_MS);
  worker.buffer.add(jobs.map((job, indexInClaim) => ({ claim, job, indexInClaim })));
  return { worker, claim, started, onCheck };
}

describe('prefetched jobs whose leases are checked before they start', () => {
  it('do not start if the check finds their claim lost', () => {
    const { worker, claim, started, onCheck } = workerOf([1, 2]);
    onCheck.push(() => worker.abandon(claim));

    worker.fill();

    expect(started).toEqual([]);
  });

  it('start without the one that the check finds cancelled', () => {
    const { worker, started, onCheck } = workerOf([1, 2]);
    onCheck.push(() => worker.runs.cancel(1));

    worker.fill();

    expect(started).toEqual([2]);
  });

  it('start once each, in their order, if the check finds their lease renewed', () => {
    const { worker, started, onCheck } = workerOf([1, 2]);
    onCheck.push(() => worker.fill());

    worker.fill();

    expect(started).toEqual([1, 2]);
  });
});
