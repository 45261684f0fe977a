import type { OpenStore } from '../../lib/store/open-store.js';
import { signalHash } from '../../lib/job/signal.js';
import { claimFrom, claimRequest, finalBatchOf, idsOf, newJob, outcomes } from './jobs.js';

/** Erases jobs in every state, and prunes the rows of subjects. */
export async function everySubjectVerb(
  { jobs, admin, steps, flows, subjects }: Pick<OpenStore, 'jobs' | 'admin' | 'steps' | 'flows' | 'subjects'>,
  advance: (ms: number) => void,
): Promise<void> {
  const ofSubject = { subject: 's', overrides: '{"subject":"s"}', priority: -1_000 };
  for (const count of [1, 40]) {
    await jobs.enqueue(Array.from({ length: 2 * count }, () => newJob(ofSubject)));
    for (let times = 0; times < 2; times++) {
      const taken = await claimFrom(jobs, { limit: count });
      await jobs.complete(finalBatchOf(taken, outcomes.dead, { retentionMs: 86_400_000 }));
      if (times === 0) await admin.retry(idsOf(taken.jobs));
    }
    await flows.create({
      jobs: [newJob(ofSubject), newJob({ ...ofSubject, isBlocked: true })],
      edges: [{ job: 1, needs: 0, onFailure: 'run' }],
    });
    const next = claimRequest({ limit: 1 });
    const [job] = await jobs.claim(next);
    const hash = signalHash('wait', 's');
    const owner = { jobId: job!.id, claimId: next.claimId };
    await steps.waitForSignal(owner, 'wait', { key: 's', hash }, 60_000);
    await steps.signal({ name: 'wait', key: 's', hash, data: '1' });
    await jobs.complete(
      finalBatchOf({ id: next.claimId, workerId: next.workerId, jobs: [job!] }, { kind: 'snooze', delayMs: 60_000 }),
    );
    for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined;)
      ({ next: after } = await subjects.erase(
        's',
        after,
        50,
        () => 60_000,
        () => true,
      ));
    await subjects.eraseSignals('s');
    await steps.signal({ name: 'wait', key: 's', hash, data: '1' });
    await subjects.eraseSignals('s');
    const [gone] = await jobs.enqueue([newJob(ofSubject), newJob(ofSubject)]);
    advance(3_700_000);
    await subjects.count('s', 10);
    const claimed = await claimFrom(jobs, { limit: 1 });
    await jobs.complete(finalBatchOf(claimed, outcomes.complete, { retentionMs: gone === undefined ? 1 : false }));
    await subjects.prune(1);
    await subjects.prune(1_000);
  }
}
