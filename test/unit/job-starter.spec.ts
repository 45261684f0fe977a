import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import { ActiveClaim } from '../../lib/worker/queue/active-claim.js';
import { JobStarter } from '../../lib/worker/queue/job-starter.js';
import { PrefetchBuffer } from '../../lib/worker/queue/prefetch-buffer.js';
import { claimRequest, claimedJob } from '../support/jobs.js';

// The worker around a JobStarter runs the handlers. A job without a handler shows the order in which jobs start.
function starterOf(ids: readonly number[]) {
  const jobs = ids.map((id) => claimedJob({ id }));
  const claim = new ActiveClaim(claimRequest({ startLimit: ids.length }), jobs, 0);
  const buffer = new PrefetchBuffer('fifo');
  buffer.add(jobs.map((job, indexInClaim) => ({ claim, job, indexInClaim })));
  const started: number[] = [];
  const onCheck: (() => void)[] = [];
  const leases = {
    /** A check of an expired lease receives what the heartbeat has found out meanwhile. */
    hasExpired: () => {
      onCheck.shift()?.();
      return false;
    },
    remove: () => undefined,
  };
  const outcomeEffects = {
    snoozeUnhandled: (_: ActiveClaim, { id }: { id: number }) => started.push(id),
    completeUnstarted: () => undefined,
  };
  const parts = { leases, handlers: { find: () => undefined }, clock: { monotonic: () => 0 }, instrumentations: {} };
  const starter = new JobStarter(
    parts as never,
    'q',
    resolveQueueOptions(),
    buffer,
    { free: 1 } as never,
    {} as never,
    outcomeEffects as never,
    {} as never,
    () => starter.startAll(),
  );
  return { starter, claim, started, onCheck };
}

describe('prefetched jobs whose leases are checked before they start', () => {
  it('do not start if the check finds their claim lost', () => {
    const { starter, claim, started, onCheck } = starterOf([1, 2]);
    onCheck.push(() => starter.abandon(claim));

    starter.startAll();

    expect(started).toEqual([]);
  });

  it('start without the one that the check finds cancelled', () => {
    const { starter, started, onCheck } = starterOf([1, 2]);
    onCheck.push(() => starter.cancel(1));

    starter.startAll();

    expect(started).toEqual([2]);
  });

  it('start once each, in their order, if the check finds their lease renewed', () => {
    const { starter, started, onCheck } = starterOf([1, 2]);
    onCheck.push(() => starter.startAll());

    starter.startAll();

    expect(started).toEqual([1, 2]);
  });
});
