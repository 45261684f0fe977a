import { describeEngines, gate } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';

const fails = () => {
  throw new Error('no');
};

describeEngines('a queue with async rules', (setup) => {
  it('retries a failed job by its retry rules', async () => {
    const world = await setup();
    const { producer, events, admin } = await world.start({
      queues: {
        q: {
          retry: {
            retryIf: (_error, attempt) => Promise.resolve(attempt < 2),
            backoff: () => Promise.resolve(0),
          },
        },
      },
      handlers: { q: fails },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('dead');

    expect(events.of('failed')).toMatchObject([{ attempt: 1, delayMs: 0 }, { attempt: 2 }]);
    expect(await admin.get(id)).toMatchObject({ state: 'dead', attempt: 2 });
  });

  it('uses the defaults if the rules reject, and causes no unhandled rejection', async () => {
    const world = await setup();
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    world.afterTest(() => process.off('unhandledRejection', note));
    const reject = () => Promise.reject(new Error('a bug in the rule'));
    const { producer, events, log } = await world.start({
      queues: { q: { retry: { attempts: 2, retryIf: reject, backoff: reject } } },
      handlers: { q: fails },
    });

    await producer.enqueue('q', 0);
    const failed = await events.until('failed');

    expect(failed).toMatchObject({ attempt: 1, delayMs: 1_000 });
    expect(log.filter((line) => line.includes('a bug in the rule'))).toHaveLength(2);
    expect(unhandled).toEqual([]);
  });

  it('excludes the time of its retry rule from the timeout of a run', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { open, opened } = gate<boolean>();
    const { producer, events } = await world.start({
      clock,
      queues: { q: { timeout: '1s', retry: { attempts: 2, retryIf: () => opened } } },
      handlers: { q: fails },
    });

    await producer.enqueue('q', 0);
    await clock.untilSleeping(5_000);
    await clock.advance(1_000);
    open(true);

    expect(await events.until('failed')).toMatchObject({ error: { message: 'no' } });
  });

  it('releases the job of a stopped worker whose retry rule never settles', async () => {
    const world = await setup();
    const { open: ask, opened: asked } = gate();
    const { producer, runner, admin } = await world.start({
      queues: { q: { retry: { retryIf: () => new Promise<boolean>(() => ask()) } } },
      handlers: { q: fails },
    });

    const { id } = await producer.enqueue('q', 0);
    await asked;
    await runner.stop({ timeout: 0 });

    expect(await admin.get(id)).toMatchObject({ state: 'waiting', attempt: 0 });
  });

  it('delays a rescued job by its backoff rule', async () => {
    const world = await setup();
    const queues = { q: { retry: { attempts: 3, backoff: () => Promise.resolve('1h' as const) } } };
    const { producer, consumer, admin, events } = await world.start({ autoStart: false, queues });
    const { id } = await producer.enqueue('q', 0);
    for (const owner of ['ann', 'bob']) {
      expect(await consumer.claim('q', { owner, lease: '1s' })).toHaveLength(1);
      world.advance(1_001);
    }

    await consumer.claim('q', { owner: 'carl' });

    expect(events.of('rescued').at(-1)).toMatchObject({ jobId: id, delayMs: 3_600_000 });
    expect(await admin.get(id)).toMatchObject({ state: 'scheduled', attempt: 2 });
  });

  it('delays a job that a claim holder failed by its backoff rule', async () => {
    const world = await setup();
    const queues = { q: { retry: { backoff: () => Promise.resolve('1h' as const) } } };
    const { producer, consumer, admin } = await world.start({ autoStart: false, queues });
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', { owner: 'ann' });

    const stands = await consumer.fail(id, { owner: 'ann', error: 'blurred' });

    expect(stands).toBe('scheduled');
    const { runAt } = (await admin.get(id))!;
    expect(runAt!.getTime()).toBeGreaterThan((await world.now()) + 3_000_000);
  });
});
