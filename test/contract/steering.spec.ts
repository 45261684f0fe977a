import { endOf, ERROR, outcomes, rescueRules, LEASE_MS } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';

const forever = () => 60_000;

describeStores('pausing a queue', (setup) => {
  it('is known to all, and undone by resuming', async () => {
    const { admin } = await setup();

    await admin.setPaused('q', true);
    const paused = await admin.queues();
    await admin.setPaused('q', false);

    expect(paused).toEqual([{ queue: 'q', paused: true, expiresAfterMs: null }]);
    expect(await admin.queues()).toEqual([{ queue: 'q', paused: false, expiresAfterMs: null }]);
  });
});

describeStores('cancelling', (setup) => {
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

    expect(await jobs.promote(9)).toBe(0);
    expect(await admin.get(id!)).toMatchObject({ state: 'cancelled' });
  });

  it('leaves nothing of a job that is not to be kept', async () => {
    const { put, admin } = await setup();
    const [id] = await put({});

    await admin.cancel(id!, () => false);

    expect(await admin.get(id!)).toBeNull();
  });

  it('tells the worker of an active job', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    const taken = await claim({ workerId: 'me' });

    const answer = await admin.cancel(id!, forever);

    expect(answer).toEqual({ state: 'requested', workerId: 'me' });
    expect(await jobs.extend([taken.id])).toEqual([{ claimId: taken.id, cancelled: [id] }]);
  });

  it('says when it is too late', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    await jobs.settle(endOf(await claim()));

    expect(await admin.cancel(id!, forever)).toEqual({ state: 'too-late' });
    expect(await admin.cancel(4_711, forever)).toEqual({ state: 'too-late' });
    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
  });

  it('asked twice is asked once', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({});
    const taken = await claim();

    await Promise.all([admin.cancel(id!, forever), admin.cancel(id!, forever)]);

    expect(await jobs.extend([taken.id])).toEqual([{ claimId: taken.id, cancelled: [id] }]);
  });

  it('ends a job even while claims race with it', async () => {
    const { put, claim, jobs, admin, advance } = await setup();
    const ids = await put(...Array.from({ length: 20 }, () => ({})));

    await Promise.all([...ids.map((id) => admin.cancel(id, forever)), ...ids.map(() => claim({ limit: 3 }))]);
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    expect(await admin.counts()).toMatchObject({ cancelled: 20, waiting: 0, active: 0 });
  });
});

describeStores('retrying', (setup) => {
  it('starts a dead job anew with its old id', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({
      payload: '{"a":1}',
      headers: '{"h":"1"}',
      overrides: '{"timeoutMs":5}',
      priority: 2,
      maxAttempts: 1,
    });
    await jobs.settle(endOf(await claim(), outcomes.dead));

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

  it('can be done again when the job is dead again', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [id] = await put({ maxAttempts: 1 });
    await jobs.settle(endOf(await claim(), outcomes.dead));
    await admin.retry([id!]);
    await jobs.settle(endOf(await claim(), outcomes.dead));

    expect(await admin.retry([id!])).toEqual([id]);
    expect(await admin.counts()).toMatchObject({ waiting: 1, dead: 0 });
  });

  it('makes scheduled jobs due', async () => {
    const { put, claim, admin } = await setup();
    const [id] = await put({ delayMs: 60_000 });

    expect(await admin.retry([id!])).toEqual([id]);
    expect((await claim()).jobs).toMatchObject([{ id }]);
  });

  it('leaves completed, waiting, active and unknown jobs as they are', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [completed] = await put({});
    await jobs.settle(endOf(await claim()));
    const [active] = await put({});
    await claim();
    const [waiting] = await put({});
    const before = await admin.counts();

    expect(await admin.retry([completed!, active!, waiting!, 4_711])).toEqual([]);
    expect(await admin.counts()).toEqual(before);
  });

  it('of nothing does nothing', async () => {
    const { admin } = await setup();

    expect(await admin.retry([])).toEqual([]);
  });

  it('takes a hundred jobs with big payloads at once', async () => {
    const { put, claim, jobs, admin } = await setup();
    const ids = await put(...Array.from({ length: 100 }, () => ({ payload: JSON.stringify('x'.repeat(200_000)) })));
    await jobs.settle(endOf(await claim({ limit: 100 }), outcomes.dead));

    expect(await admin.retry(ids)).toEqual(ids);
    expect((await claim({ limit: 100 })).jobs.map(({ id }) => id)).toEqual(ids);
  });
});

describeStores('removing', (setup) => {
  it('removes what waits and what is finished, and leaves what is active', async () => {
    const { put, claim, jobs, admin } = await setup();
    const [completed] = await put({});
    await jobs.settle(endOf(await claim()));
    const [active] = await put({});
    await claim();
    const [waiting, scheduled] = await put({}, { delayMs: 60_000 });

    const removed = await admin.remove([scheduled!, waiting!, active!, completed!, 4_711]);

    expect(removed.sort((a, b) => a - b)).toEqual([completed, waiting, scheduled]);
    expect((await admin.find({}, { after: 0, limit: 9 })).map(({ id }) => id)).toEqual([active]);
  });

  it('of nothing does nothing', async () => {
    const { admin } = await setup();

    expect(await admin.remove([])).toEqual([]);
  });
});
