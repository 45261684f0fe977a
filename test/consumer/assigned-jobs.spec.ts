import { describeEngines, gate, plainJobs, type World } from '../support/engines.js';

const ANN = { owner: 'ann' } as const;

describeEngines('an assigned job', (setup) => {
  async function held(world: World, settings = {}) {
    const engine = await world.start({ autoStart: false, ...settings });
    const { id } = await engine.producer.enqueue('q', { n: 1 });
    const [job] = await engine.consumer.claim('q', ANN);
    return { ...engine, id, token: job!.token };
  }

  it('is completed by its owner or by its token, with a result, from any process', async () => {
    const world = await setup();
    const { id, consumer, admin, producer, events } = await held(world);
    const other = await world.start({ autoStart: false });
    const second = await producer.enqueue('q', 0);
    const [job] = await consumer.claim('q', ANN);

    await other.consumer.complete(id, { owner: 'ann', result: { verdict: 'fine' } });
    await consumer.complete(second.id, { token: job!.token });

    expect(await admin.get(id)).toMatchObject({ state: 'completed', result: { verdict: 'fine' }, attempt: 1 });
    expect((await admin.get(id))!.startedAt).toBeInstanceOf(Date);
    expect(await admin.get(second.id)).toMatchObject({ state: 'completed', result: null });
    // Only the process that completed the job emits the event.
    expect([other.events.jobs('completed'), events.jobs('completed')]).toEqual([[id], [second.id]]);
    expect(other.events.of('completed')).toMatchObject([{ result: { verdict: 'fine' } }]);
    expect(await world.sql('SELECT * FROM sql_queue_claims')).toEqual([]);
  });

  it('leaves no row if its queue retains no completed jobs', async () => {
    const world = await setup();
    const { id, consumer, admin } = await held(world, { queues: { q: { retention: { completed: false } } } });

    await consumer.complete(id, ANN);

    expect(await admin.get(id)).toBeNull();
    await expect(consumer.complete(id, ANN)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
  });

  it('is retried after a failure by the rules of its queue, and is dead after its last attempt', async () => {
    const world = await setup();
    const queues = { q: { retry: { attempts: 2, backoff: '1h' } } } as const;
    const { id, consumer, admin, store, events } = await held(world, { queues });

    const first = await consumer.fail(id, { ...ANN, error: 'blurred' });
    const retried = await admin.get(id);
    world.advance(3_600_000);
    await store.promote(10);
    await consumer.claim('q', ANN);
    const last = await consumer.fail(id, { ...ANN, error: new RangeError('still blurred') });

    expect([first, last]).toEqual(['scheduled', 'dead']);
    expect(retried).toMatchObject({ state: 'scheduled', attempt: 1, error: { name: 'Error', message: 'blurred' } });
    expect(retried!.error).not.toHaveProperty('stack');
    expect(await admin.get(id)).toMatchObject({
      ...{ state: 'dead', attempt: 2, error: { name: 'RangeError', message: 'still blurred' } },
    });
    expect(events.jobs('dead')).toEqual([id]);
  });

  it('is retried after a failure at the time that its owner chose, or never', async () => {
    const world = await setup();
    const { id, consumer, admin, producer } = await held(world);
    const now = await world.now();

    await consumer.fail(id, { ...ANN, error: 'no', retry: '2h' });
    const { runAt } = (await admin.get(id))!;
    const abandoned = await producer.enqueue('q', 0);
    await consumer.claim('q', ANN);
    const state = await consumer.fail(abandoned.id, { ...ANN, error: 'never', retry: false });

    expect(runAt!.getTime()).toBeGreaterThanOrEqual(now + 2 * 3_600_000);
    expect([state, (await admin.get(abandoned.id))!.state]).toEqual(['dead', 'dead']);
  });

  it('loses no attempt by a release or a snooze', async () => {
    const world = await setup();
    const { id, consumer, admin, store } = await held(world);

    await consumer.release(id, ANN);
    const released = await admin.get(id);
    await consumer.claim('q', ANN);
    await consumer.snooze(id, { ...ANN, until: new Date(Date.now() + 86_400_000) });
    const snoozed = await admin.get(id);
    world.advance(86_400_000);
    await store.promote(10);

    expect(released).toMatchObject({ state: 'waiting', attempt: 0, owner: null });
    expect(snoozed).toMatchObject({ state: 'scheduled', attempt: 0, owner: null });
    expect(await consumer.claim('q', ANN)).toMatchObject([{ id, attempt: 1 }]);
  });

  it('can have its lease extended or shortened, but not after the lease has expired', async () => {
    const world = await setup();
    const { id, token, consumer } = await held(world);

    const before = await world.now();
    const until = await consumer.extend(id, { token, lease: '3h' });
    world.advance(2 * 3_600_000);
    const sooner = await consumer.extend(id, { ...ANN, lease: '5s' });
    world.advance(6_000);

    expect(until.getTime()).toBeGreaterThanOrEqual(before + 3 * 3_600_000);
    expect(sooner.getTime()).toBeLessThan(until.getTime());
    await expect(consumer.extend(id, { ...ANN, lease: '1h' })).rejects.toMatchObject({
      code: 'JOB_NOT_ASSIGNED',
      claimedBy: 'none',
    });
    // No claim has taken the job since, so a completion still counts.
    await expect(consumer.complete(id, ANN)).resolves.toBeUndefined();
  });

  it('stays with a new owner until a release, and rejects the first owner', async () => {
    const world = await setup();
    const { id, token, consumer, admin } = await held(world);

    const bobs = await consumer.assign(id, 'bob');
    const again = await consumer.assign(id, 'bob');

    expect(bobs).toMatchObject({ id, owner: 'bob', leaseUntil: null, attempt: 1, payload: { n: 1 } });
    expect(again.token).toBe(bobs.token);
    expect(bobs.token).not.toBe(token);
    const notAssigned = { code: 'JOB_NOT_ASSIGNED', jobId: id, queue: 'q', claimedBy: 'owner', owner: 'bob' };
    await expect(consumer.complete(id, ANN)).rejects.toMatchObject(notAssigned);
    await expect(consumer.release(id, { token })).rejects.toMatchObject(notAssigned);
    await consumer.complete(id, { token: bobs.token });
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
  });

  it('starts although it is blocked, and waits for no other job once it is released', async () => {
    const world = await setup();
    const { producer, consumer, admin, events, runner } = await world.start({
      autoStart: false,
      handlers: { render: () => 'done' },
    });
    const flow = await producer.flow((f) => f.add('review', 0, { after: f.add('render', 0) }));
    const { id } = (await admin.flow(flow.id))!.jobs.find(({ queue }) => queue === 'review')!;

    const assigned = await consumer.assign(id, 'ann');
    await consumer.unassign(id);
    const released = await admin.get(id);
    await consumer.assign(id, 'ann');
    await runner.start();
    await events.until('completed', { queue: 'render' });
    await runner.whenIdle();

    expect(assigned).toMatchObject({ id, owner: 'ann', attempt: 1 });
    expect(released).toMatchObject({ state: 'waiting', attempt: 0 });
    expect(await admin.get(id)).toMatchObject({ state: 'active', owner: 'ann' });
    await consumer.complete(id, ANN);
    expect(await admin.get(id)).toMatchObject({ state: 'completed' });
  });

  it('can be unassigned, and is waiting afterwards', async () => {
    const world = await setup();
    const { id, token, consumer, admin } = await held(world);

    await consumer.unassign(id);

    expect(await admin.get(id)).toMatchObject({ state: 'waiting', attempt: 0, owner: null });
    await expect(consumer.complete(id, { token })).rejects.toMatchObject({
      code: 'JOB_NOT_ASSIGNED',
      claimedBy: 'none',
    });
    await expect(consumer.unassign(id)).rejects.toMatchObject({ code: 'JOB_NOT_ASSIGNED', claimedBy: 'none' });
  });

  it('is cancelled at once, because no process could receive a cancellation request', async () => {
    const world = await setup();
    const { id, token, consumer, admin } = await held(world);

    const cancelled = await admin.cancel(id);

    expect(cancelled).toBe(true);
    expect(await admin.get(id)).toMatchObject({ state: 'cancelled', attempt: 1 });
    await expect(consumer.complete(id, { token })).rejects.toMatchObject({ code: 'JOB_FINISHED', state: 'cancelled' });
    expect(await world.sql('SELECT * FROM sql_queue_claims')).toEqual([]);
  });

  it('is not removed', async () => {
    const { id, admin } = await held(await setup());

    expect(await admin.remove(id)).toBe(0);
    expect(await admin.get(id)).toMatchObject({ state: 'active' });
  });
});

describeEngines('an assignment', (setup) => {
  it('claims a waiting or a scheduled job for its owner ahead of its turn', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    await producer.enqueueMany('q', plainJobs(3));
    const waiting = await producer.enqueue('q', 'w', { priority: 9 });
    const scheduled = await producer.enqueue('q', 's', { delay: '1d' });

    const jobs = [await consumer.assign(waiting.id, 'ann'), await consumer.assign(scheduled.id, 'ann')];

    expect(jobs).toMatchObject([
      { id: waiting.id, payload: 'w', attempt: 1, maxAttempts: 3, leaseUntil: null },
      { id: scheduled.id, payload: 's', attempt: 1 },
    ]);
    expect(await admin.counts('q')).toMatchObject({ active: 2, waiting: 3, scheduled: 0 });
    await consumer.release(scheduled.id, ANN);
    expect(await admin.counts('q')).toMatchObject({ active: 1, waiting: 4, scheduled: 0 });
  });

  it('gives one job to several concurrent callers in turn, and only one of them completes it', async () => {
    const { producer, consumer, admin } = await (await setup()).start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    const owners = ['ann', 'bob', 'cem', 'dan'];

    await Promise.all(owners.map((owner) => consumer.assign(id, owner)));
    const ends = await Promise.allSettled(owners.map((owner) => consumer.complete(id, { owner })));

    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
  });
});

describeEngines('an assignment with reassign: false', (setup) => {
  it('gives one job to one of several concurrent callers, and names the owner to the others', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    const owners = ['ann', 'bob', 'cem', 'dan'];
    const assign = (owner: string) => consumer.assign(id, owner, { reassign: false });

    const answers = await Promise.allSettled(owners.map(assign));
    const got = owners.filter((_, index) => answers[index]!.status === 'fulfilled');
    const again = await assign(got[0]!);

    expect(got).toHaveLength(1);
    expect(answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({ code: 'JOB_NOT_ASSIGNED', claimedBy: 'owner', owner: got[0] }),
      ),
    );
    expect(again).toMatchObject({ id, owner: got[0], attempt: 1 });
    expect(await admin.get(id)).toMatchObject({ state: 'active', owner: got[0], attempt: 1 });
  });

  it('does not take a job from the bearer of its token', async () => {
    const { producer, consumer } = await (await setup()).start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    const [held] = await consumer.claim('q');

    await expect(consumer.assign(id, 'ann', { reassign: false })).rejects.toMatchObject({
      claimedBy: 'token',
      owner: null,
    });

    await consumer.complete(id, { token: held!.token });
  });
});

describeEngines('a consumer call', (setup) => {
  const verbs = (consumer: Awaited<ReturnType<World['start']>>['consumer'], id: number, holder: { owner: string }) => [
    () => consumer.complete(id, holder),
    () => consumer.fail(id, { ...holder, error: 'x' }),
    () => consumer.release(id, holder),
    () => consumer.snooze(id, { ...holder, until: '1h' }),
    () => consumer.extend(id, { ...holder, lease: '1h' }),
    () => consumer.move(id, { ...holder, stage: 'review' }),
    () => consumer.unassign(id),
    () => consumer.assign(id, holder.owner),
  ];

  it('is rejected with the kind of the claim holder if another caller makes it, and changes nothing', async () => {
    const world = await setup();
    const { opened: finished, open: finish } = gate();
    const { producer, consumer, events, admin } = await world.start({ handlers: { work: () => finished } });
    const { id } = await producer.enqueue('work', 0);
    await events.until('started');
    const before = await world.sql('SELECT * FROM sql_queue_jobs');

    const codes = await Promise.all(
      verbs(consumer, id, ANN).map((verb) =>
        verb().then(
          () => 'done',
          (error: { code: string; claimedBy: string }) => `${error.code} ${error.claimedBy}`,
        ),
      ),
    );

    expect(new Set(codes)).toEqual(new Set(['JOB_NOT_ASSIGNED worker']));
    expect(await world.sql('SELECT * FROM sql_queue_jobs')).toEqual(before);
    finish();
    await events.until('completed');
    expect(await admin.get(id)).toMatchObject({ state: 'completed' });
  });

  it('is rejected for finished and for unknown jobs', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await admin.cancel(id);
    const codeOf = (verb: () => Promise<unknown>) =>
      verb().then(
        () => 'done',
        ({ code }: { code: string }) => code,
      );

    const finished = await Promise.all(verbs(consumer, id, ANN).map(codeOf));
    const unknown = await Promise.all(verbs(consumer, id + 1, ANN).map(codeOf));

    expect(new Set(finished)).toEqual(new Set(['JOB_FINISHED']));
    expect(new Set(unknown)).toEqual(new Set(['JOB_NOT_FOUND']));
    expect(await admin.get(id)).toMatchObject({ state: 'cancelled' });
  });

  it('is rejected with the claim id of a worker as its token', async () => {
    const world = await setup();
    const { opened: finished, open: finish } = gate();
    const { producer, consumer, events } = await world.start({ handlers: { work: () => finished } });
    const { id } = await producer.enqueue('work', 0);
    await events.until('started');
    const [claim] = await world.sql<{ id: number }>('SELECT id FROM sql_queue_claims');

    await expect(consumer.complete(id, { token: String(claim!.id) })).rejects.toMatchObject({ claimedBy: 'worker' });

    finish();
    await events.until('completed');
  });

  it('is rejected before any SQL with all problems of its arguments', async () => {
    const { consumer, store } = await (await setup()).start({ autoStart: false });
    await store.close();
    const bad = (value: unknown) => value as never;
    const refused = async (verb: Promise<unknown>) => {
      const error = (await verb.catch((reason: unknown) => reason)) as { code?: string; problems?: string[] };
      return error.code === 'INVALID_OPTIONS' ? error.problems!.length : error;
    };

    const counts = await Promise.all(
      [
        consumer.claim(bad('no queue'), bad({ owner: ' ann', limit: 0, lease: '1ms', stage: '', leese: 1 })),
        consumer.claim('q', { lease: 'until-released' }),
        consumer.complete(bad('7'), bad({})),
        consumer.complete(7, bad({ token: '1', owner: 'ann' })),
        consumer.complete(7, { token: '9007199254740993' }),
        consumer.complete(7, bad({ token: 'x' })),
        consumer.fail(7, bad({ owner: 'ann', retry: 'soon' })),
        consumer.snooze(7, { ...ANN, until: bad('tomorrow') }),
        consumer.snooze(7, { token: '1', until: '1h', keepOwner: true }),
        consumer.snooze(7, bad({ ...ANN, until: '1h', keepOwner: 1 })),
        consumer.extend(0, bad({ lease: '0s' })),
        consumer.assign(7, ''),
        consumer.assign(7, 'a\ud800'),
        consumer.assign(7, 'ann', bad({ reassign: 'no', reasign: 1 })),
        consumer.assign(7, 'ann', bad(null)),
        consumer.move(7, { ...ANN, stage: 'x'.repeat(101) }),
        consumer.unassigned('q', bad({ after: 7, limit: 1_001 })),
        consumer.assigned(bad(undefined)),
        consumer.inStage('q', ' ', bad({ aftr: 1 })),
      ].map(refused),
    );

    expect(counts).toEqual([6, 1, 2, 1, 1, 1, 2, 1, 1, 1, 3, 1, 1, 2, 1, 1, 2, 1, 2]);
  });

  it('is rejected if JSON cannot represent its result, and stores nothing', async () => {
    const { producer, consumer, admin } = await (await setup()).start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', ANN);

    await expect(consumer.complete(id, { ...ANN, result: 1n })).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' });
    expect(await admin.get(id)).toMatchObject({ state: 'active', owner: 'ann' });
  });
});
