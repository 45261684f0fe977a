import type { NewEdge } from '../../lib/job/flows/flow.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { claimFrom, finalBatchOf, newJob, outcomes } from './jobs.js';

const QUEUE = 'flow';
const keep = () => 60_000;

/** Calls every verb on flows with one job before another one, with a few and with many. */
export async function everyFlowVerb(
  { jobs, flows, admin }: Pick<OpenStore, 'jobs' | 'flows' | 'admin'>,
  advance: (ms: number) => void,
): Promise<void> {
  const claim = (limit: number) => claimFrom(jobs, { queue: QUEUE, limit });
  const finish = async (limit: number, outcome: Parameters<typeof finalBatchOf>[1]) => {
    const held = await claim(limit);
    await jobs.complete(finalBatchOf(held, outcome));
    return flows.settle(
      held.jobs.map(({ id }) => id),
      keep,
    );
  };
  for (const count of [1, 3, 40]) {
    // `count` jobs before one, and `count` jobs after that one.
    const edges = Array.from({ length: count }, (_, n): NewEdge[] => [
      { job: count, needs: n, onFailure: 'cancel' },
      { job: count + 1 + n, needs: count, onFailure: n % 2 ? 'wait' : 'run' },
    ]).flat();
    const all = Array.from({ length: 2 * count + 1 }, (_, n) =>
      newJob({ queue: QUEUE, ...(n >= count && { isBlocked: true }), ...(n === count && { delayMs: 1 }) }),
    );
    const create = () => flows.create({ jobs: all, edges });
    const [done, failing, cancelled] = [await create(), await create(), await create()];
    await admin.cancelIdle(cancelled.jobIds, keep);
    await finish(count, { kind: 'complete', result: '1' });
    await flows.mustWait(done.jobIds[count]!, 'fan-out');
    await flows.children(done.jobIds[count]!, 0, 500);
    advance(1_000);
    await jobs.promote(1_000);
    await finish(count, outcomes.dead);
    await flows.sweep(keep);
    await finish(1, outcomes.complete);
    await finish(count, outcomes.dead);
    await flows.read(failing.id);
    await admin.retry([...failing.jobIds]);
    await jobs.enqueue([newJob({ queue: QUEUE, priority: -9 })]);
    const parent = await claim(1);
    for (const job of parent.jobs) {
      const owner = { jobId: job.id, claimId: parent.id };
      const children = Array.from({ length: count }, () => newJob({ queue: QUEUE }));
      for (let times = 0; times < 2; times++) await flows.fanOut(owner, 'fan-out', children, 'run');
      await jobs.complete(finalBatchOf(parent, { kind: 'block' }));
      await flows.recheck([job.id], keep);
    }
    advance(2 * 3_600_000);
    await flows.prune(1_000);
    const ids = [done, failing, cancelled].flatMap(({ jobIds }) => [...jobIds]);
    await admin.cancelIdle(ids, keep);
    for (let held = await claim(100); held.jobs.length > 0; held = await claim(100))
      await jobs.complete(finalBatchOf(held, outcomes.complete, { retentionMs: false }));
    await admin.remove(ids);
    advance(2 * 3_600_000);
    await flows.prune(1);
    await flows.prune(1_000);
  }
}
