import { describeEngines, plainJobs } from '../support/engines.js';
import { rescueRules } from '../support/jobs.js';

const ANN = { owner: 'ann' } as const;
const MINUTES_15 = 900_000;

describeEngines('a claim of a consumer', (setup) => {
  it('takes the first jobs by priority, each with a token of its own, and counts their attempts', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 'second', { priority: 1 });
    const first = await producer.enqueue('q', { a: 1 }, { name: 'check', headers: { lang: 'de' } });
    await producer.enqueue('q', 'third', { priority: 2 });

    const before = await world.now();
    const held = await consumer.claim('q', { ...ANN, limit: 2 });

    expect(held).toMatchObject([
      {
        ...{ id: first.id, queue: 'q', name: 'check', payload: { a: 1 }, headers: { lang: 'de' } },
        ...{ attempt: 1, maxAttempts: 3, owner: 'ann', stage: null, token: expect.stringMatching(/^\d+$/) },
      },
      { payload: 'second', owner: 'ann', stage: null },
    ]);
    expect(new Set(held.map(({ token }) => token)).size).toBe(2);
    expect(held[0]!.leaseUntil!.getTime()).toBeGreaterThanOrEqual(before + MINUTES_15);
    expect(await admin.counts('q')).toMatchObject({ active: 2, waiting: 1 });
    expect(await admin.get(first.id)).toMatchObject({ state: 'active', owner: 'ann', attempt: 1 });
  });

  it('takes no job of a paused or an empty queue, and no scheduled job', async () => {
    const { producer, consumer, admin } = await (await setup()).start({ autoStart: false });
    await producer.enqueue('paused', 0);
    await producer.enqueue('later', 0, { delay: '1h' });
    await admin.pause('paused');

    const claims = await Promise.all(['paused', 'later', 'empty'].map((queue) => consumer.claim(queue, ANN)));

    expect(claims).toEqual([[], [], []]);
  });

  it('never takes a job of another claim, among people and workers of several processes', async () => {
    const world = await setup();
    const engines = [await world.start({ autoStart: false }), await world.start({ autoStart: false })];
    const worked: number[] = [];
    const worker = await world.start({
      ...{ handlers: { q: (job) => void worked.push(job.id) }, autoStart: false },
      queues: { q: { concurrency: 2, prefetch: 0 } },
    });
    await worker.producer.enqueueMany('q', plainJobs(200));

    const taking = async (consumer: (typeof engines)[0]['consumer'], owner: string): Promise<number[]> => {
      const held = await consumer.claim('q', { owner, limit: 10 });
      await Promise.all(held.map(({ id, token }) => consumer.complete(id, { token })));
      return held.length === 0 ? [] : [...held.map(({ id }) => id), ...(await taking(consumer, owner))];
    };
    await worker.runner.start();
    const owned = await Promise.all(engines.map(({ consumer }, n) => taking(consumer, `owner ${n}`)));
    await worker.events.untilCount(200 - owned.flat().length, 'completed');

    const all = [...worked, ...owned.flat()];
    expect(all).toHaveLength(200);
    expect(new Set(all).size).toBe(200);
    expect(await worker.admin.counts('q')).toMatchObject({ completed: 200, active: 0, waiting: 0 });
  });

  it('expires like the claim of a worker, and the job is retried with the attempt counted', async () => {
    const world = await setup();
    const { producer, consumer, admin, events, runner, log } = await world.start({
      ...{ handlers: { q: ({ attempt }) => attempt }, autoStart: false },
    });
    const { id } = await producer.enqueue('q', 0);
    const [held] = await consumer.claim('q', { ...ANN, lease: '2h' });

    world.advance(2 * 3_600_000);
    await runner.start();
    await events.until('completed');

    const error = { code: 'LEASE_EXPIRED', message: 'The lease of owner "ann" ended before the job did.' };
    expect(await admin.get(id)).toMatchObject({ state: 'completed', result: 2, error: null });
    expect(events.of('rescued')).toMatchObject([{ error }]);
    expect(log.at(-1)).toBe('warn: Rescued 1 job(s) of queue "q" from owner "ann", whose lease expired.');
    await expect(consumer.complete(id, { token: held!.token })).rejects.toMatchObject({ code: 'JOB_FINISHED' });
  });

  it('finds due jobs and jobs with an expired lease even if no worker runs', async () => {
    const world = await setup();
    const { producer, consumer, events } = await world.start({ autoStart: false });
    const [snoozed, forgotten] = await producer.enqueueMany('q', plainJobs(2));
    await consumer.claim('q', { ...ANN, limit: 2, lease: '2h' });
    await consumer.snooze(snoozed!.id, { ...ANN, until: '1d' });
    const before = await consumer.claim('q', ANN);

    world.advance(86_400_000);
    const held = await consumer.claim('q', { owner: 'bob', limit: 2 });

    expect(before).toEqual([]);
    expect(held.map(({ id, attempt }) => [id, attempt])).toEqual([
      [snoozed!.id, 1],
      [forgotten!.id, 2],
    ]);
    expect(events.jobs('rescued')).toEqual([forgotten!.id]);
  });

  it('until its release outlasts every other claim, and delays neither work summaries nor rescues', async () => {
    const world = await setup();
    const { producer, consumer, admin, store } = await world.start({ autoStart: false });
    const [kept, lapsed] = await producer.enqueueMany('q', plainJobs(2));

    const [held] = await consumer.claim('q', { ...ANN, lease: 'until-released' });
    await consumer.claim('q', { owner: 'bob', lease: '1h' });
    world.advance(50 * 365 * 86_400_000);
    const summary = await store.summarizeWork(['q']);
    const rescued = await store.rescue(rescueRules({ decide: () => ({ kind: 'release' }) }));

    expect(held).toMatchObject({ id: kept!.id, leaseUntil: null });
    expect(summary.leaseExpiryInMs).toBe(0);
    expect(rescued.map(({ job }) => job.id)).toEqual([lapsed!.id]);
    expect(await admin.get(kept!.id)).toMatchObject({ state: 'active', owner: 'ann' });
    expect((await consumer.assigned('ann')).jobs).toMatchObject([{ id: kept!.id, leaseUntil: null }]);
  });

  it('without an owner belongs to the bearer of the token', async () => {
    const { producer, consumer, admin } = await (await setup()).start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);

    const [held] = await consumer.claim('q');
    const { owner } = (await admin.get(id))!;
    await consumer.complete(id, { token: held!.token });

    expect([held!.owner, owner]).toEqual([null, null]);
    expect(await admin.get(id)).toMatchObject({ state: 'completed' });
  });
});
