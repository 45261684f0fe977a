import { aesGcm } from '../../lib/extras/codecs/aes-gcm.js';
import { ContentCodec } from '../../lib/job/codec/content-codec.js';
import type { GroupRules } from '../../lib/job/groups/group-options.js';
import { signalHash } from '../../lib/job/signal.js';
import { everyLock, everyStrategy, everyVerb } from '../support/every-verb.js';
import { claimFrom, finalBatchOf, newJob, outcomes } from '../support/jobs.js';
import { newSchedule } from '../support/schedules.js';
import { describeStoresOf, type World } from '../support/stores.js';

const RULES: GroupRules = { concurrency: 1, rate: null, quantum: 1, onRetry: 'pass' };
const TEXT = JSON.stringify('text'.repeat(100));
const PAGE = { order: 'newest', limit: 10 } as const;

describeStoresOf(['mysql', 'mariadb', 'sqlite'], 'a store', (setup) => {
  it('accepts each verb, for one job and for several', async () => {
    const world = await setup();

    await everyVerb(world, world.advance);
  });

  it('explains jobs in every state', async () => {
    const world = await setup();
    const ids = await jobsInEveryState(world);
    for (const paused of [false, true]) {
      await world.admin.setPaused(['q'], paused);
      await world.groups.setPaused('grouped', 'b', paused);

      const facts = await Promise.all(ids.map((id) => world.admin.facts(id, () => 'fifo')));

      expect(facts.map((each) => each?.job.id)).toEqual(ids);
    }
    expect(await world.admin.facts(-1, () => 'fifo')).toBeNull();
  });

  it('reads queues, events, signals, cancellation requests and references to blobs', async () => {
    const { admin, queues, events, steps, jobs, blobRows, put, claim } = await setup();
    const [id] = await put({});
    const held = await claim();
    await admin.cancel(id!, () => 60_000);
    await steps.signal({ name: 's', key: 'k', hash: signalHash('s', 'k'), data: '1' });

    expect([await admin.hasQueue('q'), await admin.hasQueue('none')]).toEqual([true, false]);
    expect(await admin.queueNames()).toEqual(['q']);
    expect(await queues.readService(['q'])).toEqual({ unserved: ['q'], known: [], served: [] });
    expect(await events.lastIds(10)).toEqual([]);
    expect(await events.readByIds([1, 2])).toEqual([]);
    expect((await steps.signals(PAGE, false)).signals).toHaveLength(1);
    expect((await steps.signals(PAGE, true)).signals).toHaveLength(1);
    expect(await jobs.cancelRequests([held.id])).toEqual(new Map([[held.id, [id]]]));
    expect(await blobRows.readTime()).toBeGreaterThan(0);
    expect(await blobRows.referencesUntil('2030-01-01')).toEqual([]);
  });

  it('encodes the content of all tables anew', async () => {
    const world = await setup();
    const codec = new ContentCodec([aesGcm({ keys: [{ id: 'current', key: Buffer.alloc(32) }] })]);
    await jobsInEveryState(world);
    const rekeyAll = async (dryRun: boolean) => {
      const rekey = world.content(codec).rekey({ dryRun });
      let rekeyed = 0;
      for (let batch = await rekey(2); batch.hasMore; batch = await rekey(2)) rekeyed += batch.rekeyed;
      return rekeyed;
    };

    const planned = await rekeyAll(true);

    expect(planned).toBeGreaterThan(0);
    expect([await rekeyAll(false), await rekeyAll(false)]).toEqual([planned, 0]);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a store', (setup) => {
  it('claims by every strategy, and by a worker lock', async () => {
    const world = await setup();

    await everyStrategy(world);
    await everyLock(world);

    expect(await world.sql('SELECT id FROM sql_queue_locks')).toEqual([]);
  });
});

/** Stores jobs in every state, with content in every table. */
async function jobsInEveryState({ jobs, jobLogs, flows, steps, limits, schedules, consumer, put, advance }: World) {
  const content = { payload: TEXT, priority: -1 };
  await limits.setLimits('q', { maxRunning: 900 });
  const [ended] = await put(content);
  const first = await claimFrom(jobs);
  const lines = [{ text: TEXT, agoMs: 1 }];
  await jobLogs.writeJobLogs([{ jobId: ended!, claimId: first.id, value: TEXT, lines }]);
  await jobs.complete(finalBatchOf(first, { kind: 'complete', result: TEXT }, { retentionMs: 86_400_000 }));

  const { jobIds: flow } = await flows.create({
    jobs: [newJob(content), newJob({ ...content, isBlocked: true }), newJob({ ...content, isBlocked: true })],
    edges: [
      { job: 1, needs: 0, onFailure: 'run' },
      { job: 2, needs: 1, onFailure: 'run' },
    ],
  });
  const needed = await claimFrom(jobs);
  await jobs.complete(finalBatchOf(needed, { kind: 'complete', result: TEXT }));

  const [asleep] = await put(content);
  const sleeping = await claimFrom(jobs);
  const owner = { jobId: asleep!, claimId: sleeping.id };
  await steps.writeStep(owner, 'step', TEXT);
  const wait = { key: 'k', hash: signalHash('s', 'k') };
  const waits = (await steps.waitForSignal(owner, 'wait', wait, 60_000)) as { readonly untilMs: number };
  await jobs.complete(finalBatchOf(sleeping, { kind: 'snooze', delayMs: 60_000, untilMs: waits.untilMs }));
  await steps.signal({ name: 's', key: 'other', hash: signalHash('s', 'other'), data: TEXT });

  const [staged] = await put(content);
  const held = await claimFrom(jobs, { startLimit: 0 });
  const people = { workerId: 'people', owner: 'ann', leaseMs: 900_000 };
  await consumer.splitClaim({ ...people, claimId: held.id, jobs: held.jobs });
  await consumer.move(staged!, { owner: 'ann' }, 's');

  const ofGroup = (group: string) => ({ queue: 'grouped', group, payload: TEXT });
  const grouped = await put(ofGroup('a'), ofGroup('a'), ofGroup('b'));
  await claimFrom(jobs, { queue: 'grouped', groups: RULES });
  await claimFrom(jobs, { queue: 'grouped', groups: RULES });

  const [active, waiting, scheduled] = await put(content, {}, { delayMs: 60_000 });
  const last = await claimFrom(jobs);
  await jobs.complete(finalBatchOf(await claimFrom(jobs), outcomes.retry));
  await schedules.upsert(newSchedule({ name: 'nightly', job: newJob({ payload: TEXT }) }));
  advance(1);
  expect(last.jobs.map(({ id }) => id)).toEqual([active]);
  return [ended!, flow[2]!, asleep!, staged!, ...grouped, active!, waiting!, scheduled!];
}
