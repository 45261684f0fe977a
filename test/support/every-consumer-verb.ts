import type { OpenStore } from '../../lib/store/open-store.js';
import { claimRequest, newJob, outcomes } from './jobs.js';

const PAGE = { order: 'oldest', limit: 100 } as const;
const OWNER = { owner: 'ann' } as const;

/** Calls every verb of the consumer store with one job and with several. */
export async function everyConsumerVerb(
  { jobs, admin, consumer }: Pick<OpenStore, 'jobs' | 'admin' | 'consumer'>,
  advance: (ms: number) => void,
): Promise<void> {
  const assignee = { workerId: 'people', owner: 'ann', leaseMs: 900_000 };
  const keepOneMinute = () => 60_000;
  const put = (count: number) => jobs.enqueue(Array.from({ length: count }, () => newJob({ priority: -9 })));
  const assign = async (count: number): Promise<number[]> => {
    await put(count);
    const request = claimRequest({ limit: count, startLimit: 0 });
    const held = await consumer.splitClaim({ ...assignee, claimId: request.claimId, jobs: await jobs.claim(request) });
    return held.map(({ job }) => job.id);
  };
  const fromStage = (limit: number) =>
    consumer.claimFromStage({ ...assignee, queue: 'q', stage: 's', limit, maxAttempts: 5 });

  await consumer.claimPermit('q');
  for (const count of [1, 2, 40]) {
    const held = await assign(count);
    for (const id of held) await consumer.move(id, OWNER, 's');
    const reviewed = await fromStage(count);
    for (const { job } of reviewed.slice(1)) await consumer.move(job.id, OWNER, null);
    await consumer.snooze(reviewed[0]!.job.id, OWNER, outcomes.snooze);
    await consumer.extend(reviewed[0]!.job.id, OWNER, 1_000);
    await consumer.end(reviewed[0]!.job.id, OWNER, () => ({ outcome: outcomes.complete, retentionMs: 60_000 }));
  }
  for (const outcome of Object.values(outcomes)) {
    const [id] = await assign(1);
    await consumer.end(id!, 'anyone', () => ({ outcome, retentionMs: 60_000 }));
  }
  const [waiting, scheduled] = await put(2);
  for (const owner of ['ann', 'ann', 'bob']) {
    await consumer.assign(waiting!, { ...assignee, owner, leaseMs: null }, 'anyone', () => ({ maxAttempts: 5 }));
  }
  await consumer.assign(scheduled!, { ...assignee, leaseMs: null }, 'anyone', () => ({ maxAttempts: 5 }));
  await admin.cancel(waiting!, keepOneMinute);
  await consumer.move(scheduled!, OWNER, 's');
  await admin.cancel(scheduled!, keepOneMinute);
  const orphans = await assign(3);
  for (const id of orphans) await consumer.move(id, OWNER, 's');
  await admin.edit(orphans[0]!, 'q', { priority: -8 });
  await admin.remove(orphans);
  await jobs.cleanUp(2);
  await admin.retry([scheduled!]);
  await jobs.cleanUp(100);
  const [snoozed] = await assign(1);
  await consumer.move(snoozed!, OWNER, 's');
  await fromStage(1);
  await consumer.end(snoozed!, OWNER, () => ({ outcome: outcomes.snooze, retentionMs: false }));
  advance(outcomes.snooze.delayMs);
  await jobs.promote(100);
  await put(1);
  const { claimId: from, ...request } = claimRequest();
  const [job] = await jobs.claim({ ...request, claimId: from });
  for (const to of [from + 1, from + 2]) await jobs.handOff({ job: job!, workerId: 'w', from, to, leaseMs: 1_000 });
  await jobs.deleteEmptyClaims([from]);
  await consumer.listUnassigned('q', PAGE);
  await consumer.listAssigned('ann', null, PAGE);
  await consumer.listInStage('q', 's', PAGE);
}
