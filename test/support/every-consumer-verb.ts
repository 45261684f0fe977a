import type { OpenStore } from '../../lib/store/open-store.js';
import { claimOf, newJob, outcomes } from './jobs.js';

const PAGE = { order: 'oldest', limit: 100 } as const;
const OWNER = { owner: 'ann' } as const;

/** Does everything that the store of consumers can do, with one job and with several. */
export async function everyConsumerVerb(
  { jobs, admin, consumer }: Pick<OpenStore, 'jobs' | 'admin' | 'consumer'>,
  advance: (ms: number) => void,
): Promise<void> {
  const assignee = { workerId: 'people', owner: 'ann', leaseMs: 900_000 };
  const kept = () => 60_000;
  const put = (count: number) => jobs.enqueue(Array.from({ length: count }, () => newJob({ priority: -9 })));
  const hold = async (count: number): Promise<number[]> => {
    await put(count);
    const request = claimOf({ limit: count, started: 0 });
    const held = await consumer.share({ ...assignee, claimId: request.claimId, jobs: await jobs.claim(request) });
    return held.map(({ job }) => job.id);
  };
  const fromStage = (limit: number) =>
    consumer.takeFromStage({ ...assignee, queue: 'q', stage: 's', limit, maxAttempts: 5 });

  await consumer.mayTake('q');
  for (const count of [1, 2, 40]) {
    const held = await hold(count);
    for (const id of held) await consumer.move(id, OWNER, 's');
    const reviewed = await fromStage(count);
    for (const { job } of reviewed.slice(1)) await consumer.move(job.id, OWNER, null);
    await consumer.snooze(reviewed[0]!.job.id, OWNER, outcomes.snooze);
    await consumer.extend(reviewed[0]!.job.id, OWNER, 1_000);
    await consumer.end(reviewed[0]!.job.id, OWNER, () => ({ outcome: outcomes.complete, keepMs: 60_000 }));
  }
  for (const outcome of Object.values(outcomes)) {
    const [id] = await hold(1);
    await consumer.end(id!, 'whoever', () => ({ outcome, keepMs: 60_000 }));
  }
  const [waiting, scheduled] = await put(2);
  for (const owner of ['ann', 'ann', 'bob']) {
    await consumer.assign(waiting!, { ...assignee, owner, leaseMs: null }, 'whoever', () => ({ maxAttempts: 5 }));
  }
  await consumer.assign(scheduled!, { ...assignee, leaseMs: null }, 'whoever', () => ({ maxAttempts: 5 }));
  await admin.cancel(waiting!, kept);
  await consumer.move(scheduled!, OWNER, 's');
  await admin.cancel(scheduled!, kept);
  const orphans = await hold(3);
  for (const id of orphans) await consumer.move(id, OWNER, 's');
  await admin.remove(orphans);
  await jobs.sweep(2);
  await admin.retry([scheduled!]);
  await jobs.sweep(100);
  const [putOff] = await hold(1);
  await consumer.move(putOff!, OWNER, 's');
  await fromStage(1);
  await consumer.end(putOff!, OWNER, () => ({ outcome: outcomes.snooze, keepMs: false }));
  advance(outcomes.snooze.delayMs);
  await jobs.promote(100);
  await put(1);
  const { claimId: from, ...request } = claimOf();
  const [job] = await jobs.claim({ ...request, claimId: from });
  for (const to of [from + 1, from + 2]) await jobs.handOff({ job: job!, workerId: 'w', from, to, leaseMs: 1_000 });
  await jobs.retire([from]);
  await consumer.unassigned('q', PAGE);
  await consumer.assigned('ann', {}, PAGE);
  await consumer.inStage('q', 's', PAGE);
}
