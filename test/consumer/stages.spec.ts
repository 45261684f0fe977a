import { describeEngines, plainJobs } from '../support/engines.js';
import { rescueRules } from '../support/jobs.js';

const ANN = { owner: 'ann' } as const;
const REVIEW = 'pending review';

describeEngines('a job in a stage', (setup) => {
  it('waits without an owner, and only claims for that stage take it', async () => {
    const world = await setup();
    const worked: number[] = [];
    const { producer, consumer, admin, runner } = await world.start({
      ...{ handlers: { q: (job) => void worked.push(job.id) }, autoStart: false },
    });
    const { id } = await producer.enqueue('q', 'photo');
    await consumer.claim('q', ANN);

    await consumer.move(id, { ...ANN, stage: REVIEW });
    await runner.start();
    await runner.whenIdle();
    const others = [await consumer.claim('q', ANN), await consumer.claim('q', { ...ANN, stage: 'another' })];
    const counts = await admin.counts('q');
    const [job] = await consumer.claim('q', { owner: 'rita', stage: REVIEW });

    expect([worked, ...others]).toEqual([[], [], []]);
    expect(counts).toMatchObject({ waiting: 0, staged: 1, scheduled: 0, active: 0 });
    expect(job).toMatchObject({ id, payload: 'photo', owner: 'rita', stage: REVIEW, attempt: 1 });
    await consumer.complete(id, { token: job!.token, result: 'ok' });
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
    expect(await world.sql('SELECT * FROM sql_queue_stages')).toEqual([]);
  });

  it('is claimed before the others of its stage if an admin has raised its priority', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    const jobs = await producer.enqueueMany('q', plainJobs(3));
    for (const { id } of await consumer.claim('q', { ...ANN, limit: 3 }))
      await consumer.move(id, { ...ANN, stage: REVIEW });

    await admin.reprioritise(jobs[2]!.id, -1);

    expect(await consumer.claim('q', { ...ANN, stage: REVIEW })).toMatchObject([{ id: jobs[2]!.id }]);
  });

  it('returns to its stage after a release, a snooze, a failure and an expired lease', async () => {
    const world = await setup();
    const { producer, consumer, store, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0, { retry: 9 });
    await consumer.claim('q', ANN);
    await consumer.move(id, { ...ANN, stage: REVIEW });
    const claim = () => consumer.claim('q', { ...ANN, stage: REVIEW });
    const rules = { decide: () => ({ kind: 'retry', delayMs: 60_000, error: { name: 'E', message: 'm' } }) as const };

    const observed: unknown[] = [];
    for (const back of [
      () => consumer.release(id, ANN),
      () => consumer.snooze(id, { ...ANN, until: '1m' }),
      () => consumer.fail(id, { ...ANN, error: 'x', retry: '1m' }),
      () => consumer.fail(id, { ...ANN, error: 'x', retry: 0 }),
      () => store.rescue(rescueRules(rules)),
      () => consumer.unassign(id),
    ]) {
      const [job] = await claim();
      if (back.toString().includes('rescue')) world.advance(1_000_000);
      await back();
      world.advance(60_000);
      await store.promote(10);
      observed.push(job?.stage, await consumer.claim('q', ANN), (await admin.counts('q')).staged);
    }

    expect(observed).toEqual(Array.from({ length: 6 }, () => [REVIEW, [], 1]).flat());
    expect(await claim()).toMatchObject([{ id, stage: REVIEW }]);
  });

  it('can move to another stage, and back to the queue without a stage', async () => {
    const world = await setup();
    const { producer, consumer, events, runner, admin } = await world.start({
      ...{ handlers: { q: () => 'by code' }, autoStart: false },
    });
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', ANN);
    await consumer.move(id, { ...ANN, stage: REVIEW });
    await consumer.claim('q', { ...ANN, stage: REVIEW });
    await consumer.move(id, { ...ANN, stage: 'printing' });
    const [job] = await consumer.claim('q', { ...ANN, stage: 'printing' });
    await runner.start();

    await consumer.move(id, { token: job!.token, stage: null });
    await events.until('completed', { jobId: id });

    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1, result: 'by code' });
    expect(await world.sql('SELECT * FROM sql_queue_stages')).toEqual([]);
  });

  it('is claimed by priority and age, and never twice', async () => {
    const world = await setup();
    const { producer, consumer } = await world.start({ autoStart: false });
    const options = Array.from({ length: 40 }, (_, n) => ({ payload: n, options: { priority: n % 2 } }));
    const jobs = await producer.enqueueMany('q', options);
    for (const { id } of await consumer.claim('q', { ...ANN, limit: 40 }))
      await consumer.move(id, { ...ANN, stage: REVIEW });
    const urgent = jobs.filter((_, n) => n % 2 === 0).map(({ id }) => id);

    const first = await consumer.claim('q', { ...ANN, stage: REVIEW, limit: 20 });
    const others = await Promise.all(
      ['bob', 'cem', 'dan', 'eve'].map((owner) => consumer.claim('q', { owner, stage: REVIEW, limit: 5 })),
    );

    expect(first.map(({ id }) => id)).toEqual(urgent);
    const ids = others.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => !urgent.includes(id))).toBe(true);
  });

  it('can be cancelled, removed and assigned like a waiting job', async () => {
    const world = await setup();
    const { producer, consumer, admin, store } = await world.start({ autoStart: false });
    const [cancelled, removed, assigned] = await producer.enqueueMany('q', plainJobs(3));
    for (const { id } of await consumer.claim('q', { ...ANN, limit: 3 }))
      await consumer.move(id, { ...ANN, stage: REVIEW });

    await admin.cancel(cancelled!.id);
    await admin.remove(removed!.id);
    const job = await consumer.assign(assigned!.id, 'bob');
    const cleaned = [await store.cleanUp(1), await store.cleanUp(10)];
    await consumer.release(assigned!.id, { owner: 'bob' });

    expect(job).toMatchObject({ stage: REVIEW, owner: 'bob' });
    // Both jobs have left their stage at once.
    expect(cleaned).toEqual([0, 0]);
    expect((await consumer.inStage('q', REVIEW)).jobs).toMatchObject([
      { id: assigned!.id, stage: REVIEW, owner: null },
    ]);
  });

  it('starts anew without a stage after a cancel', async () => {
    const { producer, consumer, admin } = await (await setup()).start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', ANN);
    await consumer.move(id, { ...ANN, stage: REVIEW });
    await admin.cancel(id);

    await admin.retry(id);

    expect((await consumer.inStage('q', REVIEW)).jobs).toEqual([]);
    expect(await consumer.claim('q', ANN)).toMatchObject([{ id, stage: null }]);
  });

  it.each([
    ['waiting', {}],
    ['scheduled', { delay: '1h' as const }],
  ])('starts anew without a stage after a %s job has replaced it', async (_, options) => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 'one', { key: 'k' });
    await consumer.claim('q', ANN);
    await consumer.move(id, { ...ANN, stage: REVIEW });

    await producer.enqueue('q', 'two', { key: 'k', onConflict: 'replace', ...options });
    await admin.retry(id);

    expect((await consumer.inStage('q', REVIEW)).jobs).toEqual([]);
    expect(await consumer.claim('q', ANN)).toMatchObject([{ id, payload: 'two', stage: null, attempt: 1 }]);
    expect(await world.sql('SELECT * FROM sql_queue_stages')).toEqual([]);
  });

  it('starts anew without a stage even if the replacing transaction started before the move', async () => {
    const world = await setup();
    const { producer, consumer } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 'one', { key: 'k' });
    await consumer.claim('q', ANN);
    // SQLite has one writer at a time.
    const hasOneWriter = world.server.name === 'sqlite';
    if (hasOneWriter) await consumer.move(id, { ...ANN, stage: REVIEW });

    await world.dataSource.transaction(async (manager) => {
      // From here on, the transaction reads the snapshot of this moment.
      await manager.query('SELECT COUNT(*) FROM sql_queue_stages');
      if (!hasOneWriter) await consumer.move(id, { ...ANN, stage: REVIEW });
      await producer.enqueue('q', 'two', { key: 'k', onConflict: 'replace', manager });
    });

    expect((await consumer.inStage('q', REVIEW)).jobs).toEqual([]);
    expect(await world.sql('SELECT * FROM sql_queue_stages')).toEqual([]);
    expect(await consumer.claim('q', ANN)).toMatchObject([{ id, payload: 'two', stage: null, attempt: 1 }]);
  });

  it('stays in its stage when a retry makes it due after a snooze', async () => {
    const { producer, consumer, admin } = await (await setup()).start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', ANN);
    await consumer.move(id, { ...ANN, stage: REVIEW });
    await consumer.claim('q', { ...ANN, stage: REVIEW });
    await consumer.snooze(id, { ...ANN, until: '1d' });

    await admin.retry(id);

    expect(await consumer.claim('q', ANN)).toEqual([]);
    expect(await consumer.claim('q', { ...ANN, stage: REVIEW })).toMatchObject([{ id }]);
  });
});

describeEngines('a job that ends in a stage', (setup) => {
  const DEAD = { kind: 'dead', error: { name: 'E', message: 'm' } } as const;

  async function staged() {
    const world = await setup();
    const started = await world.start({ autoStart: false });
    const { id } = await started.producer.enqueue('q', 0, { retry: 9, subject: 'ann' });
    await started.consumer.claim('q', ANN);
    await started.consumer.move(id, { ...ANN, stage: REVIEW });
    return { ...started, world, id };
  }

  type Staged = Awaited<ReturnType<typeof staged>>;

  const claim = ({ consumer }: Staged) => consumer.claim('q', { ...ANN, stage: REVIEW });

  it.each<[string, (job: Staged) => Promise<unknown>]>([
    ['an administrator cancels it', ({ admin, id }) => admin.cancel(id)],
    ['an administrator cancels it in a list', ({ admin, id }) => admin.cancel([id])],
    [
      'an administrator cancels it in a transaction',
      ({ admin, world, id }) => world.dataSource.transaction((manager) => admin.cancel(id, { manager })),
    ],
    ['an administrator cancels it while a person has it', (job) => claim(job).then(() => job.admin.cancel(job.id))],
    [
      'an administrator cancels it while it is scheduled',
      async (job) => {
        await claim(job);
        await job.consumer.fail(job.id, { ...ANN, error: 'x', retry: '1h' });
        await job.admin.cancel(job.id);
      },
    ],
    ['an administrator removes it', ({ admin, id }) => admin.remove(id)],
    ['an administrator erases its subject', ({ admin }) => admin.erase('ann')],
    [
      'its lease expires after its last attempt',
      async (job) => {
        await claim(job);
        await job.world.sql('UPDATE sql_queue_claims SET lease_until = 1');
        await job.store.rescue(rescueRules({ decide: () => DEAD }));
      },
    ],
    [
      'another program has made it malformed',
      async ({ store, world }) => {
        await world.sql(`UPDATE sql_queue_jobs SET state = 'odd'`);
        await store.cleanUp(10);
      },
    ],
  ])('leaves the stage at once: %s', async (_, end) => {
    const job = await staged();

    await end(job);

    expect(await job.world.sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
    expect(await job.world.sql('SELECT * FROM sql_queue_stages')).toEqual([]);
  });
});

describeEngines('the lists of a consumer', (setup) => {
  it('contain unassigned jobs, the jobs of an owner, and the jobs of a stage, page by page', async () => {
    const { producer, consumer } = await (await setup()).start({ autoStart: false });
    await producer.enqueueMany('other', plainJobs(2));
    await producer.enqueue('q', 'later', { delay: '1h' });
    const low = await producer.enqueue('q', 'low', { priority: 5 });
    const jobs = await producer.enqueueMany('q', plainJobs(6));
    const ids = jobs.map(({ id }) => id);
    for (const { id } of await consumer.claim('q', { ...ANN, limit: 3 })) {
      if (id !== ids[0]) await consumer.move(id, { ...ANN, stage: REVIEW });
    }
    await consumer.claim('q', { owner: 'rita', stage: REVIEW });
    await consumer.claim('other', ANN);

    const first = await consumer.unassigned('q', { limit: 2 });
    const rest = await consumer.unassigned('q', { limit: 2, after: first.next });
    const backwards = await consumer.unassigned('q', { limit: 3, order: 'newest' });
    const end = await consumer.unassigned('q', { order: 'newest', after: backwards.next });
    const { jobs: staged, next: behind } = await consumer.inStage('q', REVIEW, { limit: 1 });
    const { jobs: next } = await consumer.inStage('q', REVIEW, { after: behind });
    const stagedBackwards = await consumer.inStage('q', REVIEW, { order: 'newest' });
    const anns = (await consumer.assigned('ann')).jobs;
    const annsFirst = await consumer.assigned('ann', { limit: 1 });
    const annsBackwards = await consumer.assigned('ann', { order: 'newest' });

    const waiting = [...ids.slice(3), low.id];
    expect([...first.jobs, ...rest.jobs].map(({ id }) => id)).toEqual(waiting);
    expect([...backwards.jobs, ...end.jobs].map(({ id }) => id)).toEqual([...waiting].reverse());
    expect([rest.next, end.next, annsBackwards.next]).toEqual([undefined, undefined, undefined]);
    expect(stagedBackwards.jobs.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(annsBackwards.jobs.map(({ id }) => id)).toEqual(anns.map(({ id }) => id).reverse());
    expect(first.jobs[0]).toMatchObject({ state: 'waiting', owner: null, stage: null, leaseUntil: null, payload: 0 });
    expect(staged).toMatchObject([{ id: ids[1], owner: 'rita', stage: REVIEW, state: 'active' }]);
    expect(staged[0]!.leaseUntil).toBeInstanceOf(Date);
    expect(next).toMatchObject([{ id: ids[2], owner: null, stage: REVIEW, state: 'waiting' }]);
    expect(anns.map(({ queue }) => queue).sort()).toEqual(['other', 'q']);
    expect((await consumer.assigned('ann', { queue: 'q' })).jobs).toMatchObject([{ id: ids[0], owner: 'ann' }]);
    expect((await consumer.assigned('ann', { limit: 1, after: annsFirst.next })).jobs).toMatchObject([
      { id: anns[1]!.id },
    ]);
    expect((await consumer.assigned('Ann')).jobs).toEqual([]);
    expect(await consumer.assigned('ann ').catch(({ code }: { code: string }) => code)).toBe('INVALID_OPTIONS');
  });

  it('contain all jobs of an owner although another program has deleted some of them', async () => {
    const world = await setup();
    const { producer, consumer } = await world.start({ autoStart: false });
    const ids = (await producer.enqueueMany('q', plainJobs(5))).map(({ id }) => id);
    for (const id of ids) await consumer.assign(id, 'ann');
    await world.sql(`DELETE FROM sql_queue_jobs WHERE id IN (${ids[0]}, ${ids[1]}, ${ids[3]})`);

    const first = await consumer.assigned('ann', { limit: 1 });
    const last = await consumer.assigned('ann', { limit: 1, after: first.next });

    expect([...first.jobs, ...last.jobs].map(({ id }) => id)).toEqual([ids[2], ids[4]]);
    expect(last.next).toBeUndefined();
  });
});

describeEngines('one queue', (setup) => {
  it('can be worked by people, then by people and code, then by code alone', async () => {
    const { producer, consumer, events, runner, admin } = await (
      await setup()
    ).start({
      ...{ handlers: { q: () => 'code' }, autoStart: false },
      queues: { q: { concurrency: 1, prefetch: 0 } },
    });
    await producer.enqueueMany('q', plainJobs(3));
    const byPeople = await consumer.claim('q', { ...ANN, limit: 2 });
    await consumer.complete(byPeople[0]!.id, { ...ANN, result: 'ann' });

    await runner.start();
    await events.untilCount(2, 'completed');
    const held = await admin.get(byPeople[1]!.id);
    await consumer.release(byPeople[1]!.id, ANN);
    await events.untilCount(3, 'completed');

    expect(held).toMatchObject({ state: 'active', owner: 'ann' });
    const results = (await admin.find({ state: 'completed' })).jobs.map(({ result }) => result);
    expect(results.filter((result) => result === 'ann')).toHaveLength(1);
    expect(results.filter((result) => result === 'code')).toHaveLength(2);
  });
});

describeEngines('a stage with a job whose id is too large for a number', (setup) => {
  // Only another program writes such ids. A double rounds the first one to the id of another job, the second one not.
  const UNSAFE_IDS = ['-9007199254740993', '-9007199254740994'];

  it.each(UNSAFE_IDS)('still lets claims take its other jobs (%s)', async (unsafeId) => {
    const world = await setup();
    const { producer, consumer } = await world.start({ autoStart: false });
    const jobs = await producer.enqueueMany('q', plainJobs(2));
    for (const { id } of jobs) await consumer.claim('q', ANN).then(() => consumer.move(id, { ...ANN, stage: REVIEW }));
    await world.sql(`UPDATE sql_queue_jobs SET id = ${unsafeId} WHERE id = ${jobs[0]!.id}`);
    await world.sql(`UPDATE sql_queue_stages SET job_id = ${unsafeId} WHERE job_id = ${jobs[0]!.id}`);

    const claimed = await consumer.claim('q', { ...ANN, stage: REVIEW });

    expect(claimed).toMatchObject([{ id: jobs[1]!.id }]);
  });

  it('loses the rows of other jobs that no longer exist', async () => {
    const world = await setup();
    const { store } = await world.start({ autoStart: false });
    for (const id of ['5', '9007199254740994']) {
      await world.sql(`INSERT INTO sql_queue_stages (job_id, queue, stage, priority) VALUES (${id}, 'q', 's', 0)`);
    }

    await store.cleanUp(10);

    expect(await world.sql('SELECT priority FROM sql_queue_stages WHERE job_id = 5')).toEqual([]);
  });
});
