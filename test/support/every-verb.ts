import type { OpenStore } from '../../lib/store/open-store.js';
import { everyConsumerVerb } from './every-consumer-verb.js';
import { keyed } from './keyed.js';
import { claimOf, endOf, flushOf, LEASE_MS, newJob, outcomes, rescueRules, settled, type Claim } from './jobs.js';

/** Does everything that a store can do, each at least once with one job and with several. */
export async function everyVerb(
  { jobs, admin, consumer, queues, waits, traces, events }: OpenStore,
  advance: (ms: number) => void,
): Promise<void> {
  const claim = async (limit: number, order: 'fifo' | 'lifo' = 'fifo'): Promise<Claim> => {
    const request = claimOf({ limit, order, started: 1, deadLetter: 'dlq' });
    return { id: request.claimId, workerId: request.workerId, jobs: await jobs.claim(request) };
  };
  const put = (count: number, given = {}) => jobs.enqueue(Array.from({ length: count }, () => newJob(given)));
  const kept = () => 60_000;

  await jobs.enter({ id: 'gone', host: 'h', pid: 1, queues: ['q'] });
  advance(86_400_001);
  await jobs.enter({ id: 'here', host: 'h', pid: 1, queues: ['q'] });
  await jobs.seen('here');
  await jobs.work('here', ['q']);
  await jobs.work('here', ['q', 'other']);
  await jobs.survey(['q']);
  for (const count of [1, 2, 40]) {
    for (const outcome of Object.values(outcomes)) {
      await put(count, { priority: -9 });
      const taken = await claim(count, count === 2 ? 'lifo' : 'fifo');
      await jobs.extend([taken.id]);
      await jobs.settle(flushOf([], { claims: [{ id: taken.id, started: count, finished: false }] }));
      await jobs.settle(endOf(taken, outcome));
      await jobs.settle(endOf(taken, outcome));
      await jobs.retire([taken.id]);
    }
  }
  for (const count of [1, 2, 20]) {
    for (const outcome of Object.values(outcomes)) {
      await put(2 * count, { priority: -9 });
      const [taken, held] = [await claim(count), await claim(1)];
      const progress = { id: held.id, started: 1, finished: false };
      const end = endOf(taken, outcome);
      const flush = { ...end, claims: [...end.claims, progress] };
      const next = claimOf({ limit: count });
      const { jobs: handed } = await jobs.settleAndClaim(flush, next);
      // The same once more, when the jobs are lost.
      const last = claimOf({ limit: 1, order: 'lifo' });
      const { jobs: youngest } = await jobs.settleAndClaim({ ...flush, again: true }, last);
      await jobs.settle(endOf({ id: next.claimId, workerId: next.workerId, jobs: handed }));
      await jobs.settle(endOf({ id: last.claimId, workerId: last.workerId, jobs: youngest }));
      await jobs.settle(endOf(held));
    }
  }
  // Ids with gaps, single ones among neighbours.
  const isOurs = (n: number) => [0, 2, 3, 4].includes(n % 7);
  for (const outcome of Object.values(outcomes)) {
    await jobs.enqueue(Array.from({ length: 35 }, (_, n) => newJob(isOurs(n) ? { priority: -9 } : { queue: 'gap' })));
    const gappy = await claim(20);
    await jobs.settle(endOf(gappy, outcome, { keepMs: 1_000 }));
    await jobs.settle(endOf(gappy, outcome));
    await jobs.enqueue(Array.from({ length: 35 }, (_, n) => newJob(isOurs(n) ? { delayMs: 500 } : { queue: 'gap' })));
    advance(2_000);
    await jobs.promote(100);
    await jobs.prune(100);
  }
  for (const count of [1, 20]) {
    await put(count, { priority: -9 });
    await jobs.settle(endOf(await claim(count), outcomes.dead, { deadLetter: 'dlq' }));
  }
  await put(1, { priority: -9 });
  const own = await claim(1);
  await jobs.completeWith(() => Promise.resolve({ value: 1, settlement: settled(own, own.jobs[0]!) }));
  await jobs.retire([own.id]);

  // Wishes that are found where jobs go back: the claim ends, goes on, and goes on with more.
  for (const claims of [[{ finished: true }], [], [{ finished: false }]]) {
    await put(3, { priority: -9 });
    const back = await claim(3);
    await admin.cancel(back.jobs[0]!.id, kept);
    const progress = claims.map((each) => ({ id: back.id, started: 2, ...each }));
    await jobs.settle(flushOf([settled(back, back.jobs[0]!, outcomes.retry)], { claims: progress }));
    await jobs.settle(endOf({ ...back, jobs: back.jobs.slice(1) }));
    await jobs.retire([back.id]);
  }

  const [wanted, ...others] = await put(9, { priority: -9 });
  await admin.cancel(wanted!, kept);
  const unwanted = await claim(3);
  await admin.cancel(unwanted.jobs[0]!.id, kept);
  await admin.remove(others);
  await put(3, { delayMs: 1_000 });
  advance(LEASE_MS + 120_000);
  await jobs.promote(2);
  await jobs.promote(100);
  await jobs.rescue(rescueRules());

  // A lease from before the server's clock was set back.
  await put(1, { priority: -9 });
  await claim(1);
  advance(-3_600_000);
  await jobs.rescue(rescueRules());
  advance(3_600_000 + LEASE_MS);
  await jobs.rescue(rescueRules());

  // Keys: new ones, held, to be replaced, free again, of jobs that are retried, and forgotten.
  for (const count of [1, 3, 40]) {
    const keys = (onConflict: 'return' | 'replace') =>
      Array.from({ length: count }, (_, n) => keyed({ key: `${count}.${n}`, onConflict, priority: -9 }));
    for (const onConflict of ['return', 'replace'] as const)
      await jobs.enqueueKeyed([keys('return'), keys(onConflict)]);
    const held = await claim(count);
    await jobs.settle(endOf(held, outcomes.dead, { keepMs: 9e6 }));
    await admin.retry(held.jobs.map(({ id }) => id));
    await jobs.settle(endOf(await claim(count)));
    await jobs.enqueueKeyed([keys('return')]);
    await jobs.settle(endOf(await claim(count - 1)));
    advance(3_700_000);
    await jobs.pruneKeys(count);
    await jobs.enqueueKeyed([keys('replace')]);
    await jobs.settle(endOf(await claim(count)));
  }

  for (const count of [1, 20]) {
    const dying = await put(count, { priority: -9 });
    await jobs.settle(endOf(await claim(count), outcomes.dead));
    await admin.replay(dying, { to: 'other', firstMs: 0, everyMs: 50 });
  }
  const scheduled = await put(3, { delayMs: 600_000 });
  await admin.retry([wanted!, ...scheduled]);
  await admin.remove([wanted!]);
  await put(2, { priority: -9 });
  await jobs.settle(endOf(await claim(2)));
  advance(120_000);
  await jobs.prune(1);
  await jobs.prune(100);
  const [left] = await put(1, { priority: -9 });
  await jobs.settle(endOf(await claim(1)));
  await waits.enlist(7, [left!], 60_000);
  await admin.remove([left!]);
  await waits.removedOf(7, [left!]);
  await everyConsumerVerb({ jobs, admin, consumer }, advance);

  await put(12, { priority: -9 });
  const told = await claim(12);
  const lines = [{ text: 'line', agoMs: 1 }];
  for (const value of ['1', undefined]) {
    await traces.trace(told.jobs.map(({ id }) => ({ jobId: id, claimId: told.id, value, lines })));
  }
  await traces.progressOf(told.jobs.map(({ id }) => id));
  await admin.logs(told.jobs[0]!.id, { order: 'oldest', limit: 10 });
  await jobs.settle(endOf({ ...told, jobs: told.jobs.slice(0, 4) }));
  await jobs.settle(endOf({ ...told, jobs: told.jobs.slice(4, 8) }, outcomes.complete, { keepMs: false }));
  await traces.untrace([told.jobs[0]!.id]);
  advance(600_001);
  await traces.pruneTraces(100);
  await jobs.settle(endOf({ ...told, jobs: told.jobs.slice(8) }));

  const awaited = await put(30, { priority: -9, overrides: '{"reply":true}' });
  await waits.enlist(7, awaited, 60_000);
  await waits.waitersOf(awaited);
  await jobs.settle(endOf(await claim(30)));
  await waits.look(awaited);
  await waits.strike(7, awaited.slice(0, 10));
  await waits.forget(7, awaited.slice(10, 25));
  await waits.forget(7, awaited.slice(25, 26));
  advance(120_000);
  await waits.pruneWaits(100);
  await admin.setPaused('q', true);
  await admin.counts();
  await admin.queues();

  const declared = (where: string) => ({
    ...{ queue: 'temporary', expiresAfterMs: 60_000 },
    subscriptions: ['a', 'b', 'c'].map((topic) => ({ topic, where: { region: where } })),
  });
  await queues.declare([declared('eu'), { queue: 'q', expiresAfterMs: null, subscriptions: [] }]);
  await queues.declare([declared('us')]);
  await queues.subscribe('by-hand', declared('eu').subscriptions);
  await queues.subscribers('a');
  await queues.subscriptions();
  await queues.use(['temporary', 'q']);
  await queues.unsubscribe('by-hand', 'a');
  await queues.unsubscribe('by-hand');
  advance(60_000);
  await queues.expire();
  for (const limit of [1, 3, 40, 1_000]) await events.pruneEvents(limit);
  await jobs.leave('here');
}

/** Takes a lock, claims under it, and rescues what is claimed under it once it is gone. */
export async function everyLock({ jobs, locks }: OpenStore): Promise<void> {
  const [lock, other] = [await locks!.take('worker-1'), await locks!.take('worker-2')];
  await lock.ping();
  await jobs.enqueue([newJob({ priority: -9 }), newJob({ priority: -9 })]);
  await jobs.claim(claimOf({ limit: 2, lockId: lock.id }));
  await lock.release();
  await locks!.rescue(rescueRules());
  const third = await locks!.take('worker-1');
  await locks!.rescue(rescueRules());
  for (const held of [other, third]) await held.release();
}

/** Claims in every way there is on a server, one job and several. */
export async function everyStrategy({ jobs }: OpenStore): Promise<void> {
  await jobs.chooseStrategies(new Map([['q', 'auto']]));
  for (const strategy of ['update', 'optimistic'] as const) {
    for (const order of ['fifo', 'lifo'] as const) {
      for (const limit of [1, 2, 40]) {
        await jobs.enqueue(Array.from({ length: limit }, () => newJob({ priority: -9 })));
        const request = claimOf({ limit, order, strategy });
        const taken = { id: request.claimId, workerId: request.workerId, jobs: await jobs.claim(request) };
        await jobs.settle(endOf(taken));
      }
    }
  }
}
