import type { OpenStore } from '../../lib/store/open-store.js';
import { everyFlowVerb } from './every-flow-verb.js';
import { everyMetricsVerb } from './metrics.js';
import { everySubjectVerb } from './every-subject-verb.js';
import { everyGroupVerb } from './every-group-verb.js';
import { everyConsumerVerb } from './every-consumer-verb.js';
import { newSchedule } from './schedules.js';
import { signalHash } from '../../lib/job/signal.js';
import { FAST_RATE } from './limits.js';
import { keyedJob } from './keyed-job.js';
import {
  claimFrom,
  claimRequest,
  finalBatchOf,
  idsOf,
  completionBatchOf,
  LEASE_MS,
  newJob,
  outcomes,
  rescueRules,
  completionOf,
} from './jobs.js';

/** Calls every verb of a store at least once with one job and with several. */
export async function everyVerb(store: OpenStore, advance: (ms: number) => void): Promise<void> {
  const { jobs, workers, admin, queues, waits, jobLogs, events, schedules } = store;
  const { limits, steps, stats, metrics, audit } = store;
  const claim = (limit: number, order: 'fifo' | 'lifo' = 'fifo') =>
    claimFrom(jobs, { limit, order, startLimit: 1, deadLetter: 'dlq' });
  const put = (count: number, given = {}) => jobs.enqueue(Array.from({ length: count }, () => newJob(given)));
  const keepOneMinute = () => 60_000;

  await workers.register({ id: 'gone', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
  advance(86_400_001);
  await workers.register({ id: 'here', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
  await workers.markSeen('here');
  await workers.setQueues('here', new Map([['q', 1]]));
  await workers.setQueues(
    'here',
    new Map([
      ['q', 1],
      ['other', 1],
    ]),
  );
  await jobs.summarizeWork(['q']);
  for (const count of [1, 2, 40]) {
    for (const outcome of Object.values(outcomes)) {
      await put(count, { priority: -9 });
      const taken = await claim(count, count === 2 ? 'lifo' : 'fifo');
      await jobs.extend([taken.id]);
      await jobs.complete(completionBatchOf([], { claims: [{ id: taken.id, startLimit: count, isFinished: false }] }));
      await jobs.complete(finalBatchOf(taken, outcome));
      await jobs.complete(finalBatchOf(taken, outcome));
      await jobs.deleteEmptyClaims([taken.id]);
    }
  }
  for (const count of [1, 2, 20]) {
    for (const outcome of Object.values(outcomes)) {
      await put(2 * count, { priority: -9 });
      const [taken, held] = [await claim(count), await claim(1)];
      const progress = { id: held.id, startLimit: 1, isFinished: false };
      const end = finalBatchOf(taken, outcome);
      const flush = { ...end, claims: [...end.claims, progress] };
      const next = claimRequest({ limit: count });
      const { jobs: handed } = await jobs.completeAndClaim(flush, next);
      // Repeats the call when its jobs are already ended.
      const last = claimRequest({ limit: 1, order: 'lifo' });
      const { jobs: youngest } = await jobs.completeAndClaim({ ...flush, mayHaveCommitted: true }, last);
      await jobs.complete(finalBatchOf({ id: next.claimId, workerId: next.workerId, jobs: handed }));
      await jobs.complete(finalBatchOf({ id: last.claimId, workerId: last.workerId, jobs: youngest }));
      await jobs.complete(finalBatchOf(held));
    }
  }
  // Ids with gaps, and single ids among neighbours.
  const isOwn = (n: number) => [0, 2, 3, 4].includes(n % 7);
  for (const outcome of Object.values(outcomes)) {
    await jobs.enqueue(Array.from({ length: 35 }, (_, n) => newJob(isOwn(n) ? { priority: -9 } : { queue: 'gap' })));
    const gappy = await claim(20);
    await jobs.complete(finalBatchOf(gappy, outcome, { retentionMs: 1_000 }));
    await jobs.complete(finalBatchOf(gappy, outcome));
    await jobs.enqueue(Array.from({ length: 35 }, (_, n) => newJob(isOwn(n) ? { delayMs: 500 } : { queue: 'gap' })));
    advance(2_000);
    await jobs.promote(100);
    await jobs.prune(100);
  }
  for (const count of [1, 20]) {
    await put(count, { priority: -9 });
    await jobs.complete(finalBatchOf(await claim(count), outcomes.dead, { deadLetter: 'dlq' }));
  }
  await put(1, { priority: -9 });
  const own = await claim(1);
  await jobs.completeWith(() => Promise.resolve({ value: 1, completion: completionOf(own, own.jobs[0]!) }));
  await jobs.deleteEmptyClaims([own.id]);

  // Cancellation requests for returned jobs, if their claim ends, continues, or continues with a higher start limit.
  for (const claims of [[{ isFinished: true }], [], [{ isFinished: false }]]) {
    await put(3, { priority: -9 });
    const back = await claim(3);
    await admin.cancel(back.jobs[0]!.id, keepOneMinute);
    const progress = claims.map((each) => ({ id: back.id, startLimit: 2, ...each }));
    await jobs.complete(completionBatchOf([completionOf(back, back.jobs[0]!, outcomes.retry)], { claims: progress }));
    await jobs.complete(finalBatchOf({ ...back, jobs: back.jobs.slice(1) }));
    await jobs.deleteEmptyClaims([back.id]);
  }

  const [cancelled, ...others] = await put(9, { priority: -9 });
  await admin.cancel(cancelled!, keepOneMinute);
  const requested = await claim(3);
  await admin.cancel(requested.jobs[0]!.id, keepOneMinute);
  await admin.release(requested.jobs[1]!.id);
  await admin.remove(others);
  await put(3, { delayMs: 1_000 });
  advance(LEASE_MS + 120_000);
  await jobs.promote(2);
  await jobs.promote(100);
  await jobs.rescue(rescueRules());

  // A lease from before the clock of the server was set back.
  await put(1, { priority: -9 });
  await claim(1);
  advance(-3_600_000);
  await jobs.rescue(rescueRules());
  advance(3_600_000 + LEASE_MS);
  await jobs.rescue(rescueRules());

  // Keys: new, owned, replaced, free again, of retried jobs, and pruned.
  for (const count of [1, 3, 40]) {
    const keys = (onConflict: 'return' | 'replace') =>
      Array.from({ length: count }, (_, n) => keyedJob({ key: `${count}.${n}`, onConflict, priority: -9 }));
    for (const onConflict of ['return', 'replace'] as const)
      await jobs.enqueueKeyed([keys('return'), keys(onConflict)]);
    const held = await claim(count);
    await jobs.complete(finalBatchOf(held, outcomes.dead, { retentionMs: 9e6 }));
    await admin.retry(held.jobs.map(({ id }) => id));
    await jobs.complete(finalBatchOf(await claim(count)));
    await jobs.enqueueKeyed([keys('return')]);
    await jobs.complete(finalBatchOf(await claim(count - 1)));
    advance(3_700_000);
    await jobs.pruneKeys(count);
    await jobs.enqueueKeyed([keys('replace')]);
    await jobs.complete(finalBatchOf(await claim(count)));
  }

  for (const count of [1, 20]) {
    const dying = await put(count, { priority: -9 });
    await jobs.complete(finalBatchOf(await claim(count), outcomes.dead));
    await admin.replay(dying, { to: 'other', firstMs: 0, intervalMs: 50, completed: false });
  }
  const scheduled = await put(3, { delayMs: 600_000 });
  await admin.edit(scheduled[0]!, 'q', { payload: '1', headers: '{}', priority: 1, delay: { delayMs: 600_000 } });
  await admin.copyOf(scheduled[0]!);
  await admin.copyOf(cancelled!);
  await admin.promote([scheduled[0]!]);
  await admin.promote(scheduled.slice(0, 2));
  await admin.retry([cancelled!, ...scheduled]);
  await admin.remove([cancelled!]);
  await put(2, { priority: -9 });
  await jobs.complete(finalBatchOf(await claim(2)));
  advance(120_000);
  await jobs.prune(1);
  await jobs.prune(100);
  const [remaining] = await put(1, { priority: -9 });
  await jobs.complete(finalBatchOf(await claim(1)));
  await waits.register(7, [remaining!], 60_000);
  await admin.remove([remaining!]);
  await waits.removedOf(7, [remaining!]);
  await everyConsumerVerb(store, advance);

  await put(12, { priority: -9 });
  const logged = await claim(12);
  const lines = [{ text: 'line', agoMs: 1 }];
  for (const value of ['1', undefined]) {
    await jobLogs.writeJobLogs(logged.jobs.map(({ id }) => ({ jobId: id, claimId: logged.id, value, lines })));
  }
  await jobLogs.progressOf(logged.jobs.map(({ id }) => id));
  await admin.logs(logged.jobs[0]!.id, { order: 'oldest', limit: 10 });
  await jobs.complete(finalBatchOf({ ...logged, jobs: logged.jobs.slice(0, 4) }));
  await jobs.complete(
    finalBatchOf({ ...logged, jobs: logged.jobs.slice(4, 8) }, outcomes.complete, { retentionMs: false }),
  );
  await jobLogs.deleteJobLogs([logged.jobs[0]!.id]);
  advance(600_001);
  await jobLogs.pruneJobLogs(100);
  const left = logged.jobs.slice(8);
  await jobs.complete(finalBatchOf({ ...logged, jobs: left }, outcomes.dead));
  await admin.retry(idsOf(left));
  await jobs.complete(finalBatchOf(await claim(left.length)));

  const awaited = await put(30, { priority: -9, overrides: '{"reply":true}' });
  await waits.register(7, awaited, 60_000);
  await waits.waitersOf(awaited);
  await jobs.complete(finalBatchOf(await claim(30)));
  await waits.readJobs(awaited);
  await waits.unregister(7, awaited.slice(0, 10));
  await waits.deleteOutcomes(7, awaited.slice(10, 25));
  await waits.deleteOutcomes(7, awaited.slice(25, 26));
  advance(120_000);
  await waits.pruneWaits(100);
  const entry = {
    id: 1,
    verb: 'pause',
    queue: 'q',
    by: 'ann',
    details: '{}',
    count: 0,
    queues: new Set<string>(),
  } as const;
  await admin.setPaused(['q'], true, { audit: entry });
  await admin.configure('q', { concurrency: 2, maxRunning: 900, enabled: true });
  await admin.configure('new', { paused: true });
  await admin.eraseQueue('new');
  await admin.configure('q', null);
  await audit.list({}, { limit: 10, order: 'oldest' });
  await audit.list({ by: 'ann', queue: 'q' }, { after: [0, 0], limit: 10, order: 'newest' });
  advance(1);
  await audit.prune(0, 10);
  await admin.counts();
  await admin.states([1]);
  await admin.states(Array.from({ length: 40 }, (_, n) => n + 1));
  await admin.queues();
  await admin.problemFacts({ unserved: ['q'], paused: ['q'], disabled: ['other'], behind: ['q', 'other'] });
  await stats.read();
  await stats.takeLease(0);
  await stats.takeSample();

  const declared = (where: string) => ({
    ...{ queue: 'temporary', expiresAfterMs: 60_000 },
    subscriptions: ['a', 'b', 'c'].map((topic) => ({ topic, where: { region: where } })),
  });
  await queues.declare([declared('eu'), { queue: 'q', expiresAfterMs: null, subscriptions: [] }]);
  await queues.declare([declared('us')]);
  await queues.subscribe('by-hand', declared('eu').subscriptions);
  await queues.subscribers('a');
  await queues.subscriptions();
  await queues.markUsed(['temporary', 'q']);
  await queues.unsubscribe('by-hand', 'a');
  await queues.unsubscribe('by-hand');
  advance(60_000);
  await queues.expire();
  const ofName = (name: string) => newSchedule({ name, overlap: 'skip' });
  await schedules.declare(['code', 'other'].map(ofName), '1');
  for (const name of ['api', 'gone']) await schedules.upsert(ofName(name));
  for (let tick = 0; tick < 2; tick++) {
    advance(3_600_000);
    await jobs.summarizeWork(['q'], ['code']);
    await jobs.readUpcomingTimes(['code']);
    await schedules.runTicks(['code']);
  }
  await schedules.runNow('api');
  await schedules.setPaused('api', true);
  await schedules.remove('gone');
  advance(3_600_000);
  await schedules.keepDeclared(['code']);
  await schedules.removeUndeclared(1_000);
  await schedules.get('api');
  await schedules.list();
  await everyGroupVerb(store, advance);
  await everyFlowVerb(store, advance);
  await limits.rest('q', { delayMs: 0 });
  await limits.setLimits('q', { maxRunning: 900, rest: false });
  for (const rate of [null, FAST_RATE, { ...FAST_RATE, window: 'fixed' }] as const) {
    await limits.declareLimits(new Map([['q', { maxRunning: null, rate }]]));
    for (const count of [1, 20]) {
      await put(count, { priority: -9 });
      const held = await claimFrom(jobs, { limit: count, isLimited: true });
      // Counts the jobs of the claim before.
      await jobs.claim(claimRequest({ isLimited: true }));
      await jobs.complete(finalBatchOf(held));
    }
  }
  await limits.setLimits('q', null);
  for (const count of [1, 20]) {
    await put(count, { priority: -2_000, overrides: '{"expiresInMs":3600000}' });
    const held = await claim(count);
    const signals = held.jobs.map((job) => ({
      name: 's',
      key: `${job.id}`,
      hash: signalHash('s', `${job.id}`),
      data: '1',
    }));
    for (const [index, { id: jobId }] of held.jobs.entries()) {
      const owner = { jobId, claimId: held.id };
      await steps.writeStep(owner, 'done', '1');
      await steps.writeStep(owner, 'done', '1');
      await steps.transactStep({ ...owner, queue: 'q' }, 'together', () => Promise.resolve({ value: 1, result: '1' }));
      await steps.startSleep(owner, 'sleep', { delayMs: 60_000 });
      await steps.waitForSignal(owner, 'wait', signals[index]!, 60_000);
      await steps.readSteps(jobId);
      for (const order of ['oldest', 'newest'] as const) await steps.list(jobId, { order, limit: 10 });
    }
    await jobs.complete(finalBatchOf(held, { kind: 'snooze', delayMs: 60_000 }));
    for (const [index, signal] of signals.entries()) {
      await steps.signal(signal);
      if (index % 2) await steps.wakeWaiting(signal.hash);
    }
    await steps.wakeMissed();
    advance(2 * 3_600_000);
    await steps.pruneSteps(1_000);
    const woken = await claim(count);
    for (const { id: jobId } of woken.jobs) {
      const signal = { key: `${jobId}`, hash: signalHash('s', `${jobId}`) };
      await steps.waitForSignal({ jobId, claimId: woken.id }, 'wait', signal, 60_000);
    }
    await jobs.complete(finalBatchOf(woken, outcomes.dead));
    await admin.retry(idsOf(woken.jobs));
    await jobs.complete(finalBatchOf(await claim(count), outcomes.complete, { retentionMs: false }));
    advance(31 * 86_400_000);
    await steps.pruneSteps(10);
    await steps.pruneSteps(1_000);
  }
  await everySubjectVerb(store, advance);
  for (const limit of [1, 3, 40, 1_000]) await events.pruneEvents(limit);
  await workers.deregister('here');
  await everyMetricsVerb(metrics, advance);
  await store.readSchemaState();
}

/** Acquires a worker lock, claims with it, and rescues its jobs after its release. */
export async function everyLock({ jobs, workerLocks }: OpenStore): Promise<void> {
  const [lock, other] = [await workerLocks!.acquire('worker-1'), await workerLocks!.acquire('worker-2')];
  await lock.ping();
  await jobs.enqueue([newJob({ priority: -9 }), newJob({ priority: -9 })]);
  await jobs.claim(claimRequest({ limit: 2, lockId: lock.id }));
  await lock.release();
  await workerLocks!.rescue(rescueRules());
  const third = await workerLocks!.acquire('worker-1');
  await workerLocks!.rescue(rescueRules());
  for (const held of [other, third]) await held.release();
}

/** Claims one job and several by every strategy of the server. */
export async function everyStrategy({ jobs }: OpenStore): Promise<void> {
  await jobs.chooseStrategies(new Map([['q', 'auto']]));
  for (const strategy of ['update', 'optimistic'] as const) {
    for (const order of ['fifo', 'lifo'] as const) {
      for (const limit of [1, 2, 40]) {
        await jobs.enqueue(Array.from({ length: limit }, () => newJob({ priority: -9 })));
        const taken = await claimFrom(jobs, { limit, order, strategy });
        await jobs.complete(finalBatchOf(taken));
      }
    }
  }
}
