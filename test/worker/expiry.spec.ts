import { JobCancelledError } from '../../lib/job/errors.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate } from '../support/engines.js';

const TWO_HOURS_MS = 7_200_000;

describeEngines('a job that expires', (setup) => {
  it('ends cancelled with the reason if no worker starts it in time, and the others run', async () => {
    const world = await setup();
    const ran: unknown[] = [];
    const { producer, admin, events, runner, log } = await world.start({
      ...{ handlers: { q: (job) => void ran.push(job.payload) }, autoStart: false },
    });
    const { id } = await producer.enqueue('q', 'late', { expiresIn: '1m' });
    await producer.enqueue('q', 'in time', { expiresIn: '1h' });
    await producer.enqueue('q', 'plain');

    world.advance(120_000);
    await runner.start();
    await events.untilCount(2, 'completed');
    await runner.whenIdle();

    expect(ran).toEqual(['in time', 'plain']);
    expect(await admin.get(id)).toMatchObject({ state: 'cancelled', error: { code: 'JOB_EXPIRED' } });
    expect(events.all.filter(({ jobId }) => jobId === id)).toMatchObject([
      { event: 'cancelled', error: { code: 'JOB_EXPIRED' } },
    ]);
    await expect(producer.waitFor(id)).rejects.toThrow(JobCancelledError);
    expect(log.filter((line) => line.includes('Job '))).toEqual([
      `warn: Job ${id} of queue "q" was cancelled: no worker has started it within its \`expiresIn\`.`,
    ]);
  });

  it('is not given to a claim of QueueConsumer', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    const late = await producer.enqueue('q', 0, { expiresIn: '1m' });
    const fresh = await producer.enqueue('q', 0, { expiresIn: '1h' });
    world.advance(120_000);

    const claimed = await consumer.claim('q', { owner: 'ada' });

    expect(claimed.map(({ id }) => id)).toEqual([fresh.id]);
    expect(await admin.get(late.id)).toMatchObject({ state: 'cancelled' });
  });

  it.each<[how: string, leave: (job: JobContext) => unknown]>([
    ['sleeps', (job) => job.sleep('long', '2h')],
    ['waits for a signal', (job) => job.waitFor('never', { key: 'k', timeout: '2h' })],
    ['snoozes', (job) => job.snooze('2h')],
    ['lets its queue rest', (job) => job.rateLimit('2h')],
  ])('completes if it has started in time and then %s for longer', async (how, leave) => {
    const world = await setup();
    let runs = 0;
    const isStep = how === 'sleeps' || how === 'waits for a signal';
    const { producer, admin, events } = await world.start({
      handlers: { q: async (job) => void (runs++ === 0 || isStep ? await leave(job) : undefined) },
    });
    const { id } = await producer.enqueue('q', 0, { expiresIn: '1h' });
    await events.until(how === 'lets its queue rest' ? 'released' : 'snoozed');

    world.advance(TWO_HOURS_MS);

    expect((await admin.explain(id)).reasons.map(({ reason }) => reason)).not.toContain('expired');
    expect(await events.until('completed')).toMatchObject({ jobId: id, attempt: 1 });
    expect(events.of('cancelled')).toEqual([]);
  });

  it('completes if it has started in time and its children run for longer', async () => {
    const world = await setup();
    const children = gate();
    const { producer, events } = await world.start({
      handlers: { q: (job) => job.fanOut('children', [1, 2]), children: () => children.opened },
    });
    const { id } = await producer.enqueue('q', 0, { expiresIn: '1h' });
    await events.until('blocked', { jobId: id });

    world.advance(TWO_HOURS_MS);
    children.open();

    expect(await events.until('completed', { jobId: id })).toMatchObject({ attempt: 1 });
  });

  it('completes if it has started in time and a stopping worker or an administrator releases it', async () => {
    const world = await setup();
    const returned = gate();
    world.afterTest(() => returned.open());
    const { producer, admin, events, runner } = await world.start({
      handlers: { q: () => returned.opened },
    });
    const released = await producer.enqueue('q', 0, { expiresIn: '1h' });
    const stopped = await producer.enqueue('q', 0, { expiresIn: '1h' });
    await events.untilCount(2, 'started');
    runner.pause();
    await admin.release(released.id);
    await runner.stop({ timeout: 0 });

    world.advance(TWO_HOURS_MS);
    const next = await world.start({ handlers: { q: () => 'done' } });

    const completed = await next.events.untilCount(2, 'completed');
    expect(completed.map(({ jobId }) => jobId).sort((a, b) => a - b)).toEqual([released.id, stopped.id]);
  });

  it('completes if a person has claimed it in time and released it', async () => {
    const world = await setup();
    const { producer, consumer, events, runner } = await world.start({
      ...{ handlers: { q: () => 'done' }, autoStart: false },
    });
    const { id } = await producer.enqueue('q', 0, { expiresIn: '1h' });
    await consumer.claim('q', { owner: 'ada' });
    await consumer.move(id, { owner: 'ada', stage: 'review' });
    world.advance(TWO_HOURS_MS);

    const [claimed] = await consumer.claim('q', { owner: 'ada', stage: 'review' });
    await consumer.move(id, { owner: 'ada', stage: null });
    await runner.start();

    expect(claimed).toMatchObject({ id, attempt: 1 });
    expect(await events.until('completed')).toMatchObject({ jobId: id });
  });

  it('runs if an administrator retries it after its time to start', async () => {
    const world = await setup();
    let isBroken = true;
    const { producer, admin, events, runner } = await world.start({
      handlers: { q: () => (isBroken ? Promise.reject(new Error('broken')) : 'done') },
    });
    const dead = await producer.enqueue('q', 0, { expiresIn: '1h', retry: 1 });
    await events.until('dead');
    runner.pause();
    const late = await producer.enqueue('q', 0, { expiresIn: '1h' });
    world.advance(TWO_HOURS_MS);
    runner.resume();
    await events.until('cancelled', { jobId: late.id });

    isBroken = false;
    await admin.retry(dead.id);
    await admin.retry(late.id);

    const completed = await events.untilCount(2, 'completed');
    expect(completed.map(({ jobId }) => jobId).sort((a, b) => a - b)).toEqual([dead.id, late.id]);
  });

  it('runs if an administrator changes the payload of a failed job after its time to start', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      handlers: { q: (job) => (job.payload === 'bad' ? Promise.reject(new Error('broken')) : 'done') },
    });
    const { id } = await producer.enqueue('q', 'bad', { expiresIn: '1h', retry: { attempts: 2, backoff: '3h' } });
    await events.until('failed');
    world.advance(TWO_HOURS_MS);

    await admin.update(id, { payload: 'good' });
    await admin.promote(id);

    expect(await events.until('completed')).toMatchObject({ jobId: id, attempt: 1 });
  });

  it('has its whole time from the moment at which another payload replaces its own', async () => {
    const world = await setup();
    const { producer, admin, events, runner } = await world.start({
      ...{ handlers: { q: (job) => job.payload }, autoStart: false },
    });
    const replace = { key: 'k', onConflict: 'replace', expiresIn: '1h' } as const;
    const inTime = await producer.enqueue('q', 'old', replace);
    const late = await producer.enqueue('q', 'old', { ...replace, key: 'late' });
    world.advance(TWO_HOURS_MS);
    await producer.enqueue('q', 'late', { ...replace, key: 'late' });
    world.advance(TWO_HOURS_MS / 2 - 60_000);
    const reasons = (await admin.explain(late.id)).reasons.map(({ reason }) => reason);
    world.advance(120_000);

    await producer.enqueue('q', 'in time', replace);
    await runner.start();

    expect(reasons).not.toContain('expired');
    expect(await events.until('completed')).toMatchObject({ jobId: inTime.id, result: 'in time' });
    expect(await events.until('cancelled')).toMatchObject({ jobId: late.id, error: { code: 'JOB_EXPIRED' } });
  });

  it('gives its copy no more time, after another payload has replaced its own', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ queues: { q: { groups: {} } }, autoStart: false });
    // A job with a group has the time of the test, and not that of the server, as its `createdAt`.
    const replace = { key: 'k', onConflict: 'replace', expiresIn: '1h', group: 'g' } as const;
    const { id } = await producer.enqueue('q', 'old', replace);
    world.advance(TWO_HOURS_MS);
    await producer.enqueue('q', 'new', replace);
    const reasonsOf = async (job: number) => (await admin.explain(job)).reasons.map(({ reason }) => reason);

    const copy = (await admin.duplicate(id))!;
    const early = await reasonsOf(copy);
    world.advance(TWO_HOURS_MS / 2 + 60_000);

    expect(early).not.toContain('expired');
    expect(await reasonsOf(copy)).toContain('expired');
    expect(await reasonsOf(id)).toContain('expired');
  });
});
