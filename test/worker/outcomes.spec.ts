import { UnrecoverableError } from '../../lib/job/errors.js';
import { describeEngines, plainJobs } from '../support/engines.js';

describeEngines('a job', (setup) => {
  it('is completed with the value that its handler returns', async () => {
    const world = await setup();
    const { producer, events, admin } = await world.start({ handlers: { q: ({ payload }) => ({ got: payload }) } });

    const { id } = await producer.enqueue('q', 'ünïcødé 🎉', { headers: { trace: 'é' } });
    await events.until('completed');

    expect(await admin.get(id)).toMatchObject({
      ...{ state: 'completed', result: { got: 'ünïcødé 🎉' }, attempt: 1, headers: { trace: 'é' }, error: null },
    });
  });

  it('is retried after its backoff when it fails, and is dead with error and stack after its last attempt', async () => {
    const world = await setup();
    const { producer, events, admin, runner } = await world.start({
      queues: { q: { retry: { attempts: 3, backoff: { type: 'exponential', delay: '1m', jitter: 0 } } } },
      handlers: {
        q: ({ attempt }) => {
          throw new TypeError(`attempt ${attempt}`);
        },
      },
    });

    const { id } = await producer.enqueue('q', 0);
    for (const [index, backoffMs] of [60_000, 120_000].entries()) {
      const attempt = index + 1;
      expect(await events.until('failed', { attempt })).toMatchObject({ delayMs: backoffMs });
      world.advance(backoffMs - 10_000);
      await runner.whenIdle();
      expect(events.of('started', { attempt: attempt + 1 })).toEqual([]);
      world.advance(10_000);
    }
    await events.until('dead');

    const dead = await admin.get(id);
    expect(dead).toMatchObject({ state: 'dead', attempt: 3, error: { name: 'TypeError', message: 'attempt 3' } });
    expect(dead!.error!.stack).toContain('outcomes.spec');
  });

  it.each([
    ['its handler throws an UnrecoverableError', () => Promise.reject(new UnrecoverableError('no use'))],
    ['its handler discards it', (job: { discard(reason: string): never }) => job.discard('no use')],
    ['retryIf rejects its error', () => Promise.reject(new Error('no use'))],
  ])('is dead at once if %s', async (_, handler) => {
    const world = await setup();
    const { producer, events, admin } = await world.start({
      queues: { q: { retry: { attempts: 5, retryIf: (error) => error.message !== 'no use' } } },
      handlers: { q: handler },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('dead');

    expect(await admin.get(id)).toMatchObject({ state: 'dead', attempt: 1, error: { message: 'no use' } });
  });

  it.each([
    ['an error with an unreadable code', () => Object.defineProperty(new Error('x'), 'code', { get: unreadable })],
    ['an unreadable object', () => revoked()],
  ])('fails like any other if its handler throws %s', async (_, thrown) => {
    const world = await setup();
    const { producer, events, admin } = await world.start({
      queues: { q: { retry: 1 } },
      handlers: { q: () => Promise.reject(thrown()) },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('dead');

    expect((await admin.get(id))?.error?.message).toMatch(/cannot be read/);
  });

  it('is snoozed until a date of the database clock, and runs at once if that date is past', async () => {
    const world = await setup();
    const until = new Date(Date.now() + 3_600_000);
    let runs = 0;
    const { producer, events, admin } = await world.start({
      handlers: { q: (job) => (job.attempt === 1 && job.payload === 'later' ? job.snooze(until) : undefined) },
    });
    const past = await world.start({
      handlers: { p: (job) => (runs++ > 0 ? undefined : job.snooze(new Date(0))) },
    });

    const { id } = await producer.enqueue('q', 'later');
    await events.until('snoozed', { jobId: id });
    const over = await past.producer.enqueue('p', 0);
    await past.events.until('completed', { jobId: over.id });

    expect(await admin.get(id)).toMatchObject({ state: 'scheduled', runAt: until, attempt: 0 });
    expect(past.events.of('snoozed')).toMatchObject([{ delayMs: 0 }]);
  });

  it('runs again without a counted attempt after a release or a snooze', async () => {
    const world = await setup();
    let runs = 0;
    const { producer, events, admin } = await world.start({
      handlers: {
        q: (job) => {
          if (++runs === 1) job.release();
          if (runs === 2) job.snooze('10m');
        },
      },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('snoozed', { delayMs: 600_000 });
    const snoozed = await admin.get(id);
    world.advance(600_000);
    await events.until('completed');

    expect(snoozed).toMatchObject({ state: 'scheduled', attempt: 0 });
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1 });
    expect(events.all.map(({ event }) => event)).toEqual([
      ...['started', 'released', 'started', 'snoozed', 'started', 'completed'],
    ]);
  });

  it('is snoozed and logged once by a worker without a handler for its name, and runs in a worker with one', async () => {
    const world = await setup();
    const here = await world.start({ handlers: { q: { known: () => 'here' } } });
    const jobs = await here.producer.enqueueMany('q', plainJobs(3, { name: 'unknown' }));
    await here.events.untilCount(3, 'snoozed');
    await here.runner.stop();

    const there = await world.start({ handlers: { q: { unknown: () => 'there' } } });
    world.advance(10_000);
    await there.events.untilCount(3, 'completed');

    expect(here.log.filter((line) => line.includes('"unknown"'))).toHaveLength(1);
    expect(await there.admin.get(jobs[0]!.id)).toMatchObject({ attempt: 1, result: 'there' });
  });
});

function unreadable(): never {
  throw new Error('not to be read');
}

function revoked(): Error {
  const { proxy, revoke } = Proxy.revocable(new Error('x'), {});
  revoke();
  return proxy;
}
