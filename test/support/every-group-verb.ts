import type { GroupRules } from '../../lib/job/groups/group-options.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { claimFrom, claimRequest, finalBatchOf, newJob, outcomes, rescueRules, LEASE_MS } from './jobs.js';

const QUEUE = 'grouped';
const LIMITED: GroupRules = {
  concurrency: 2,
  rate: { limit: 1_000, perMs: 1_000, burst: 100, window: 'sliding' },
  quantum: 1,
  onRetry: 'wait',
};

/** Calls every verb on jobs of groups with one group, with a few and with many. */
export async function everyGroupVerb(
  { jobs, groups, consumer }: Pick<OpenStore, 'jobs' | 'groups' | 'consumer'>,
  advance: (ms: number) => void,
): Promise<void> {
  await consumer.claimPermit(QUEUE);
  for (const count of [1, 3, 40]) {
    const put = (more = {}) =>
      jobs.enqueue(
        Array.from({ length: 2 * count }, (_, n) => newJob({ queue: QUEUE, group: `g${n % count}`, ...more })),
      );
    const claim = (rules: GroupRules = LIMITED) => claimFrom(jobs, { queue: QUEUE, limit: count, groups: rules });
    await put();
    await put({ delayMs: 1_000 });
    await jobs.enqueue([newJob({ queue: QUEUE })]);
    for (const outcome of [outcomes.complete, outcomes.retry, outcomes.release, outcomes.dead]) {
      const held = await claim();
      await claim();
      await jobs.complete(finalBatchOf(held, outcome));
    }
    await put();
    const oneAtATime = { ...LIMITED, concurrency: 1 };
    while ((await claim(oneAtATime)).jobs.length > 0);
    advance(20_000);
    // The groups that were at their limits are examined again.
    await claim(oneAtATime);
    await jobs.promote(100);
    const expiring = await claim();
    advance(LEASE_MS + 1_000);
    await jobs.rescue(rescueRules());
    await jobs.complete(finalBatchOf(expiring));
    const next = claimRequest({ queue: QUEUE, limit: count, groups: LIMITED });
    await jobs.completeAndClaim(finalBatchOf(await claim()), next);
    for (const group of ['g0', 'new']) {
      await groups.setPaused(QUEUE, group, true);
      await groups.setPaused(QUEUE, group, false);
      await groups.setLimits(QUEUE, group, { concurrency: 3, weight: 2 });
      await groups.rest(QUEUE, group, { delayMs: 1_000 });
      await groups.rest(QUEUE, group, null);
      await groups.counts(QUEUE, [group]);
      await groups.setLimits(QUEUE, group, null);
    }
    await groups.list({ queue: QUEUE, after: '', limit: 10 });
    await groups.list({ queue: QUEUE, state: 'ready', after: 'g0', limit: 10 });
    await jobs.summarizeWork([QUEUE]);
    await jobs.countWaiting(QUEUE, 1_000);
    for (let held = await claim(); held.jobs.length > 0; held = await claim())
      await jobs.complete(finalBatchOf(held, outcomes.complete, { retentionMs: false }));
    advance(2 * 3_600_000);
    await jobs.rescue(rescueRules());
    await groups.prune(1_000);
  }
}
