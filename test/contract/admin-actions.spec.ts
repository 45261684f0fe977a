import {
  countClaimed,
  finalBatchOf,
  ERROR,
  completionBatchOf,
  LEASE_MS,
  outcomes,
  rescueRules,
  completionOf,
} from '../support/jobs.js';
import { describeStores } from '../support/stores.js';
import { UNLIMITED } from '../support/limits.js';

const forever = () => 60_000;
const REPLAY = { to: undefined, firstMs: 0, intervalMs: 0, completed: false };

describeStores('pausing a queue', (setup) => {
  it('is visible to all processes, and is undone by resuming the queue', async () => {
    const { admin } = await setup();

    await admin.setPaused(['q'], true);
    const paused = await admin.queues();
    await admin.setPaused(['q'], false);

    expect(paused).toEqual([
      { queue: 'q', paused: true, expiresAfterMs: null, ...UNLIMITED, settings: { paused: true } },
    ]);
    expect(await admin.queues()).toEqual([{ queue: 'q', paused: false, expiresAfterMs: null, ...UNLIMITED }]);
  });
});

describeStores('a cancellation', (setup) => {
  it('ends a waiting job at once', async () => {
    const { put, claim, admin } = await setup();
    const [id] = await put({ maxAttempts: 3 });

    expect(await admin.cancel(id!, forever)).toEqual({ state: 'cancelled' });
    expect(await admin.get(id!)).toMatchObject({ state: 'cancelled', worker: null, startedAt: null, maxAttempts: 3 });
    expect((await claim()).jobs).toEqual([]);
  });

  it('ends a scheduled job at once', async () => {
    const { put, jobs, admin, advance } = await setup();
    const [id] = await put({ delayMs: 1_000 });

    await admin.cancel(id!, forever);
    advance(2_000);

    expect(await jobs.promote(9)).toHaveLength(0);
    expect(await admin.get(id!)).toMatchObject({ state: 'cancelled' });
  });

  it('deletes a job without retention', async () => {
    const { put, admin } = await setup();
    const [id] = await put({});

    await admin.cancel(id!, () => false);

    expect(await admin.get(id!)).toBeNull();
  });

  it('reaches the worker of an active job', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    const taken = await claim({ workerId: 'me' });

    const answer = await admin.cancel(id!, forever);

    expect(answer).toEqual({ state: 'requested', workerId: 'me', queue: 'q' });
    expect(await jobs.extend([taken.id])).toEqual([{ claimId: taken.id, cancelRequested: [id] }]);
  });

  it('reports that it came too late', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    await jobs.complete(finalBatchOf(await claim()));

    expect(await admin.cancel(id!, forever)).toEqual({ state: 'too-late' });
    expect(await admin.cancel(4_711, forever)).toEqual({ state: 'too-late' });
    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
  });

  it.each(['retry', 'snooze', 'release'] as const)(
    'ends a job that its worker returns (%s) before it knows of the request',
    async (kind) => {
      const { put, claim, jobs, admin } = await setup();
      const [unwanted, other] = await put({}, {});
      const taken = await claim({ limit: 2 });
      await admin.cancel(unwanted!, forever);

      const { lost, cancelled } = await jobs.complete(finalBatchOf(taken, outcomes[kind]));

      expect([lost.size, Array.from(cancelled, ({ job }) => job.id)]).toEqual([0, [unwanted]]);
      expect(await admin.get(unwanted!)).toMatchObject({ state: 'cancelled', worker: 'worker-1' });
      expect(await admin.get(other!)).toMatchObject({ state: expect.stringMatching(/waiting|scheduled/) });
      expect(await admin.counts()).toMatchObject({ active: 0, cancelled: 1 });
    },
  );

  it.each([
    ['continues', []],
    ['continues with a higher start limit', [{ startLimit: 3, isFinished: false }]],
  ])('ends a retried job whose claim %s', async (_title, progress) => {
    const { put, claim, jobs, admin } = await setup();
    const [unwanted] = await put({}, {}, {});
    const taken = await claim({ limit: 3, startLimit: 2 });
    await admin.cancel(unwanted!, forever);

    const claims = progress.map((each) => ({ id: taken.id, ...each }));
    await jobs.complete(completionBatchOf([completionOf(taken, taken.jobs[0]!, outcomes.retry)], { claims }));

    expect(await admin.get(unwanted!)).toMatchObject({ state: 'cancelled' });
    expect(countClaimed(await admin.counts())).toBe(2);
    expect(await jobs.extend([taken.id])).toHaveLength(1);
  });

  it('ends each job whose retry is stored at the same time', async () => {
    const { put, claim, jobs, admin } = await setup();
    const ids = await put(...Array.from({ length: 20 }, () => ({})));
    const taken = await Promise.all(ids.map(() => claim()));

    await Promise.all([
      ...taken.map((each) => jobs.complete(finalBatchOf(each, outcomes.retry))),
      ...ids.map((id) => admin.cancel(id, forever)),
    ]);

    expect(await admin.counts()).toMatchObject({ cancelled: 20, waiting: 0, active: 0 });
  });

  it('is too late for a job that completes', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    const taken = await claim();
    await admin.cancel(id!, forever);

    await jobs.complete(finalBatchOf(taken));

    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
  });

  it('is requested once if it is called twice', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    const taken = await claim();

    await Promise.all([admin.cancel(id!, forever), admin.cancel(id!, forever)]);

    expect(await jobs.extend([taken.id])).toEqual([{ claimId: taken.id, cancelRequested: [id] }]);
  });

  it('ends a job that is being claimed', async () => {
    const { put, claim, jobs, admin, advance } = await setup();
    const ids = await put(...Array.from({ length: 20 }, () => ({})));

    await Promise.all([...ids.map((id) => admin.cancel(id, forever)), ...ids.map(() => claim({ limit: 3 }))]);
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    expect(await admin.counts()).toMatchObject({ cancelled: 20, waiting: 0, active: 0 });
  });
});

describeStores('a retry', (setup) => {
  it('starts a dead job again with its id', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({
      payload: '{"a":1}',
      headers: '{"h":"1"}',
      overrides: '{"timeoutMs":5}',
      priority: 2,
      maxAttempts: 1,
    });
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead));

    const moved = await admin.retry([id!]);

    expect(moved).toEqual([id]);
    const job = (await claim()).jobs[0];
    expect(job).toMatchObject({
      id,
      attempt: 1,
      maxAttempts: 1,
      priority: 2,
      payload: '{"a":1}',
      headers: '{"h":"1"}',
    });
    expect(job).toMatchObject({ overrides: { timeoutMs: 5 }, lastError: ERROR });
  });

  it('can be repeated when the job is dead again', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({ maxAttempts: 1 });
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead));
    await admin.retry([id!]);
    await jobs.complete(finalBatchOf(await claim(), outcomes.dead));

    expect(await admin.retry([id!])).toEqual([id]);
    expect(await admin.counts()).toMatchObject({ waiting: 1, dead: 0 });
  });

  it('makes scheduled jobs due', async () => {
    const { put, claim, admin } = await setup();
    const [id] = await put({ delayMs: 60_000 });

    expect(await admin.retry([id!])).toEqual([id]);
    expect((await claim()).jobs).toMatchObject([{ id }]);
  });

  it('leaves completed, waiting, active and unknown jobs unchanged', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [completed] = await put({});
    await jobs.complete(finalBatchOf(await claim()));
    const [active] = await put({});
    await claim();
    const [waiting] = await put({});
    const before = await admin.counts();

    expect(await admin.retry([completed!, active!, waiting!, 4_711])).toEqual([]);
    expect(await admin.counts()).toEqual(before);
  });

  it('does nothing for an empty list', async () => {
    const { admin } = await setup();

    expect(await admin.retry([])).toEqual([]);
  });

  it('starts a hundred jobs with big payloads at once', async () => {
    const { put, claim, jobs, admin } = await setup();
    const ids = await put(...Array.from({ length: 100 }, () => ({ payload: JSON.stringify('x'.repeat(200_000)) })));
    await jobs.complete(finalBatchOf(await claim({ limit: 100 }), outcomes.dead));

    expect(await admin.retry(ids)).toEqual(ids);
    expect((await claim({ limit: 100 })).jobs.map(({ id }) => id)).toEqual(ids);
  });
});

describeStores('remove()', (setup) => {
  it('deletes waiting, scheduled and finished jobs, and leaves active jobs', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [completed] = await put({});
    await jobs.complete(finalBatchOf(await claim()));
    const [active] = await put({});
    await claim();
    const [waiting, scheduled] = await put({}, { delayMs: 60_000 });

    const removed = await admin.remove([scheduled!, waiting!, active!, completed!, 4_711]);

    expect(removed.sort((a, b) => a - b)).toEqual([completed, waiting, scheduled]);
    expect((await admin.find({}, { order: 'oldest', limit: 9 })).jobs.map(({ id }) => id)).toEqual([active]);
  });

  it('does nothing for an empty list', async () => {
    const { admin } = await setup();

    expect(await admin.remove([])).toEqual([]);
  });
});

describeStores('a change with the filter that has found its jobs', (setup) => {
  it('leaves a finished job that was retried meanwhile', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [retried, dead] = await put({}, {});
    await jobs.complete(finalBatchOf(await claim({ limit: 2 }), outcomes.dead));
    const filter = { queue: 'q', state: 'dead' } as const;
    await admin.retry([retried!]);

    expect(await admin.replay([retried!, dead!], REPLAY, undefined, filter)).toEqual([dead]);
    expect(await admin.remove([retried!, dead!], undefined, filter)).toEqual([]);
    expect(await admin.remove([dead!], undefined, { queue: 'other' })).toEqual([]);
    expect((await admin.find({ state: 'waiting' }, { order: 'oldest', limit: 9 })).jobs).toHaveLength(2);
  });

  it('leaves a scheduled job that is due meanwhile', async () => {
    const { put, admin } = await setup();
    const [due, scheduled] = await put({ delayMs: 60_000 }, { delayMs: 60_000 });
    const filter = { state: 'scheduled' } as const;
    await admin.promote([due!]);

    expect(await admin.promote([due!, scheduled!], undefined, { ...filter, name: 'other' })).toEqual([]);
    expect(await admin.cancelIdle([due!, scheduled!], forever, undefined, filter)).toMatchObject([{ id: scheduled }]);
    expect(await admin.get(due!)).toMatchObject({ state: 'waiting' });
  });

  it('cancels an active job only in its queue and with its holder', async () => {
    const { put, claim, admin } = await setup();
    const [id] = await put({});

    expect(await admin.cancel(id!, forever, undefined, { state: 'active' })).toEqual({ state: 'too-late' });
    await claim({ workerId: 'w' });
    expect(await admin.cancel(id!, forever, undefined, { queue: 'other' })).toEqual({ state: 'too-late' });
    expect(await admin.cancel(id!, forever, undefined, { worker: 'other' })).toEqual({ state: 'too-late' });
    expect(await admin.cancel(id!, forever, undefined, { worker: 'w' })).toMatchObject({ state: 'requested' });
  });
});
