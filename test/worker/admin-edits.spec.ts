import { InvalidOptionsError, PayloadInvalidError, PayloadTooLargeError } from '../../lib/job/errors.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, type World } from '../support/engines.js';

const IN_AN_HOUR = { delay: '1h' } as const;

/** An engine without a running worker. */
function idle(world: World) {
  return world.start({ autoStart: false });
}

/** A job that runs until the test ends, and a finished one, which no verb may change. */
async function withUnchangeable(world: World) {
  const [started, ended] = [gate(), gate()];
  world.afterTest(() => ended.open());
  const engine = await world.start({
    handlers: {
      q: async ({ payload }: JobContext) => {
        if (payload === 'done') return;
        started.open();
        await ended.opened;
      },
    },
  });
  const done = await engine.producer.enqueue('q', 'done');
  await engine.events.until('completed');
  const active = await engine.producer.enqueue('q', 'active');
  await started.opened;
  return { ...engine, ids: [done.id, active.id, 4_711] };
}

describeEngines('admin.reschedule', (setup) => {
  it('makes waiting and scheduled jobs due at another time', async () => {
    const world = await setup();
    const { admin, producer } = await idle(world);
    const waiting = await producer.enqueue('q', 1);
    const scheduled = await producer.enqueue('q', 1, IN_AN_HOUR);
    const at = new Date('2099-01-01T00:00:00Z');

    const done = [await admin.reschedule(waiting.id, at), await admin.reschedule(scheduled.id, '2h')];

    expect(done).toEqual([true, true]);
    expect(await admin.get(waiting.id)).toMatchObject({ state: 'scheduled', runAt: at, dueAt: null });
    const inMs = (await admin.get(scheduled.id))!.runAt!.getTime() - (await world.now());
    expect(Math.round(inMs / 3_600_000)).toBe(2);
  });

  it('lets a worker run a job that it makes due now', async () => {
    const world = await setup();
    const { admin, producer, events } = await world.start({ handlers: { q: () => undefined } });
    const { id } = await producer.enqueue('q', 1, IN_AN_HOUR);

    await admin.reschedule(id, 0);

    expect(await events.until('completed')).toMatchObject({ jobId: id });
  });

  it('changes no blocked job, because it is due when the jobs before it have ended', async () => {
    const world = await setup();
    const { admin, producer } = await idle(world);
    const flow = await producer.flow((f) => f.add('q', 2, { after: f.add('q', 1) }));
    const blocked = (await admin.find({ state: 'blocked' })).jobs[0]!;

    expect(await admin.reschedule(blocked.id, '1h')).toBe(false);
    expect((await admin.flow(flow.id))!.jobs.map(({ state }) => state)).toEqual(['waiting', 'blocked']);
  });
});

describeEngines('admin.reprioritise', (setup) => {
  it('changes the order of waiting jobs', async () => {
    const world = await setup();
    const { admin, producer, runner, events } = await world.start({
      autoStart: false,
      queues: { q: { concurrency: 1 } },
      handlers: { q: () => undefined },
    });
    const [first, second, third] = await producer.enqueueMany('q', [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);

    const done = [await admin.reprioritise(third!.id, -1), await admin.reprioritise(first!.id, 9)];
    await runner.start();
    await runner.whenIdle();

    expect(done).toEqual([true, true]);
    expect(events.jobs('completed')).toEqual([third!.id, second!.id, first!.id]);
  });

  it('changes the order within a group', async () => {
    const world = await setup();
    const { admin, producer, runner, events } = await world.start({
      queues: { q: { concurrency: 1, groups: { concurrency: 1 } } },
      handlers: { q: () => undefined },
    });
    runner.pause();
    const jobs = await producer.enqueueMany(
      'q',
      [1, 2, 3].map((payload) => ({ payload, options: { group: 'a' } })),
    );

    await admin.reprioritise(jobs[2]!.id, -1);
    runner.resume();
    await events.untilCount(3, 'completed');

    expect(events.jobs('completed')[0]).toBe(jobs[2]!.id);
  });

  it('rejects a number that is out of range', async () => {
    const world = await setup();
    const { admin } = await idle(world);

    await expect(admin.reprioritise(1, 40_000)).rejects.toThrow(/priority to be a whole number from -32768 to 32767/);
  });
});

describeEngines('admin.update', (setup) => {
  it('replaces the payload and all headers of a job', async () => {
    const world = await setup();
    const { admin, producer } = await idle(world);
    const { id } = await producer.enqueue('q', { to: 'old' }, { headers: { a: '1', b: '2' } });

    const byPayload = await admin.update(id, { payload: { to: 'new' } });
    const first = await admin.get(id);
    const byHeaders = await admin.update(id, { headers: { c: '3' } });
    const second = await admin.get(id);
    const without = await admin.update(id, { headers: {} });

    expect([byPayload, byHeaders, without]).toEqual([true, true, true]);
    expect(first).toMatchObject({ payload: { to: 'new' }, headers: { a: '1', b: '2' } });
    expect(second).toMatchObject({ payload: { to: 'new' }, headers: { c: '3' } });
    expect(await admin.get(id)).toMatchObject({ payload: { to: 'new' }, headers: {} });
  });

  it('applies the limits of the queue, and changes nothing beyond them', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false, queues: { q: { maxPayloadBytes: 100 } } });
    const { id } = await producer.enqueue('q', 1, { headers: { a: '1' } });
    const refusals = [
      await admin.update(id, { payload: 'x'.repeat(200) }).catch((error: unknown) => error),
      await admin.update(id, { payload: 1n }).catch((error: unknown) => error),
      await admin.update(id, { headers: { a: 'x'.repeat(20_000) } }).catch((error: unknown) => error),
      await admin.update(id, { headers: { a: 1 } as never }).catch((error: unknown) => error),
      await admin.update(id, {}).catch((error: unknown) => error),
      await admin.update(id, { name: 'other' } as never).catch((error: unknown) => error),
    ];

    expect(refusals.map((error) => (error as Error).constructor)).toEqual([
      ...[PayloadTooLargeError, PayloadInvalidError, PayloadTooLargeError],
      ...[InvalidOptionsError, InvalidOptionsError, InvalidOptionsError],
    ]);
    expect(await admin.get(id)).toMatchObject({ payload: 1, headers: { a: '1' } });
  });
});

describeEngines('admin.reschedule, reprioritise and update', (setup) => {
  it('change no active, finished or unknown job', async () => {
    const world = await setup();
    const { admin, ids } = await withUnchangeable(world);

    for (const id of ids) {
      expect([
        await admin.reschedule(id, '1h'),
        await admin.reprioritise(id, 1),
        await admin.update(id, { payload: 'changed' }),
      ]).toEqual([false, false, false]);
    }
    expect((await admin.find()).jobs.map(({ payload, state }) => [payload, state])).toEqual([
      ['done', 'completed'],
      ['active', 'active'],
    ]);
  });
});

describeEngines('admin.duplicate', (setup) => {
  it('enqueues a copy of a job with its options, but without its key', async () => {
    const world = await setup();
    const { admin, producer } = await idle(world);
    const options = { name: 'n', headers: { a: '1' }, priority: 3, retry: 7, timeout: '9s', key: 'k' } as const;
    const { id } = await producer.enqueue('q', { to: 'x' }, { ...options, ...IN_AN_HOUR });

    const copy = await admin.duplicate(id);

    const [original, copied] = [await admin.get(id), await admin.get(copy!)];
    expect(copied).toMatchObject({
      ...{ queue: 'q', name: 'n', payload: { to: 'x' }, headers: { a: '1' }, priority: 3, maxAttempts: 7 },
      ...{ state: 'waiting', key: null },
    });
    expect(original).toMatchObject({ state: 'scheduled', key: 'k' });
  });

  it('copies finished jobs, and those of groups and flows, and applies differences', async () => {
    const world = await setup();
    const { admin, producer, events } = await world.start({
      queues: { q: { groups: {} } },
      handlers: { q: ({ payload }: JobContext) => payload },
    });
    await producer.flow((f) => f.add('q', 'in a flow', { group: 'a' }));
    const { jobId } = await events.until('completed');

    const later = await admin.duplicate(jobId, { ...IN_AN_HOUR, payload: 'other', priority: 5 });
    const now = await admin.duplicate(jobId);
    const done = await events.untilCount(2, 'completed');

    expect(done[1]).toMatchObject({ jobId: now, result: 'in a flow' });
    expect(await admin.get(later!)).toMatchObject({ state: 'scheduled', payload: 'other', priority: 5, group: 'a' });
  });

  it('rejects a delay after which the copy would expire at once', async () => {
    const world = await setup();
    const { admin, producer } = await idle(world);
    const { id } = await producer.enqueue('q', 0, { expiresIn: '1h' });

    await expect(admin.duplicate(id, IN_AN_HOUR)).rejects.toThrow(
      /Cannot duplicate job .*delay to be shorter than expiresIn of the job, 3600000 ms, got "1h"/,
    );
    expect(await admin.duplicate(id, { delay: '59m' })).toEqual(expect.any(Number));
    expect(await admin.counts('q')).toMatchObject({ scheduled: 1 });
  });

  it('resolves with null for an unknown job, and rejects unknown differences', async () => {
    const world = await setup();
    const { admin } = await idle(world);

    expect(await admin.duplicate(4_711)).toBeNull();
    await expect(admin.duplicate(1, { key: 'k' } as never)).rejects.toThrow(/unknown option "key"/);
    await expect(admin.duplicate(1, { delay: 'soon' as never })).rejects.toBeInstanceOf(InvalidOptionsError);
  });
});

describeEngines('admin.pause and resume of all queues', (setup) => {
  it('pause and resume each queue that has jobs', async () => {
    const world = await setup();
    const { admin, producer } = await idle(world);
    await producer.enqueue('q', 1);
    await producer.enqueue('r', 1);
    const paused = async () => (await admin.queues()).map((queue) => [queue.queue, queue.paused]);

    await admin.pause({ all: true });
    const during = await paused();
    await admin.resume({ all: true });

    expect(during).toEqual([
      ['q', true],
      ['r', true],
    ]);
    expect(await paused()).toEqual([
      ['q', false],
      ['r', false],
    ]);
  });

  it('pause no queue if the argument is neither a name nor { all: true }', async () => {
    const world = await setup();
    const { admin, producer } = await idle(world);
    await producer.enqueue('q', 1);

    for (const which of [undefined, {}, { all: false }, { all: true, queue: 'q' }])
      await expect(admin.pause(which as never)).rejects.toBeInstanceOf(InvalidOptionsError);
    expect(await admin.queues()).toMatchObject([{ queue: 'q', paused: false }]);
  });
});
