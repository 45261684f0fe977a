import { UnrecoverableError } from '../../lib/job/errors.js';
import { describeEngines, plain } from '../support/engines.js';

describeEngines('a job', (setup) => {
  it('whose handler returns is completed with what it returned', async () => {
    const world = await setup();
    const { producer, events, admin } = await world.start({ handlers: { q: ({ payload }) => ({ got: payload }) } });

    const { id } = await producer.enqueue('q', 'ünïcødé 🎉', { headers: { trace: 'é' } });
    await events.until('completed');

    expect(await admin.get(id)).toMatchObject({
      ...{ state: 'completed', result: { got: 'ünïcødé 🎉' }, attempt: 1, headers: { trace: 'é' }, error: null },
    });
  });

  it('that fails is tried again after its backoff, and is dead with its error and stack when its attempts are used up', async () => {
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
    ['throws an UnrecoverableError', () => Promise.reject(new UnrecoverableError('no use'))],
    ['is discarded', (job: { discard(reason: string): never }) => job.discard('no use')],
    ['fails in a way that retryIf gives up', () => Promise.reject(new Error('no use'))],
  ])('that %s is dead at once', async (_, handler) => {
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
    ['an error whose code', () => Object.defineProperty(new Error('x'), 'code', { get: unreadable })],
    ['something that', () => revoked()],
  ])('that throws %s cannot be read fails like any other', async (_, thrown) => {
    const world = await setup();
    const { producer, events, admin } = await world.start({
      queues: { q: { retry: 1 } },
      handlers: { q: () => Promise.reject(thrown()) },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('dead');

    expect((await admin.get(id))?.error?.message).toMatch(/cannot be read/);
  });

  it('that is snoozed until a date is due then by the database’s clock, and at once if that is over', async () => {
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

  it('that is released or snoozed runs again without having used an attempt', async () => {
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

  it('whose name has no handler here is put off and said once, and runs where there is one', async () => {
    const world = await setup();
    const here = await world.start({ handlers: { q: { known: () => 'here' } } });
    const jobs = await here.producer.enqueueMany('q', plain(3, { name: 'unknown' }));
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
