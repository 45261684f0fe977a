import { describeEngines, gate } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

describeEngines('the settings of a queue', (setup) => {
  it('change the concurrency of running workers in all processes, and end with null', async () => {
    const world = await setup();
    const release = gate();
    const handlers = { q: () => release.opened };
    const { producer, admin, runner } = await world.start({ handlers, queues: { q: { concurrency: 1, prefetch: 0 } } });
    const active = async () => (await admin.counts('q')).active;
    const slots = async () => (await admin.workers())[0]!.queues[0]!.slots;
    for (let n = 0; n < 5; n++) await producer.enqueue('q', n);
    await eventually(async () => (await active()) === 1);

    await admin.configure('q', { concurrency: 3 });
    await eventually(async () => (await active()) === 3);
    runner.setConcurrency('q', 2);
    await admin.configure('q', { concurrency: 4 });
    await eventually(async () => (await active()) === 4);
    await eventually(async () => (await slots()) === 4);
    await admin.configure('q', null);
    await eventually(async () => (await slots()) === 2);
    release.open();
    await runner.whenIdle();

    expect(await admin.queues()).toMatchObject([{ queue: 'q', settings: {} }]);
    expect((await admin.counts('q')).completed).toBe(5);
  });

  it('hold for a process that starts later, and for the claims of people', async () => {
    const world = await setup();
    const { admin, producer, consumer } = await world.start({ autoStart: false });
    await admin.configure('q', { enabled: false }, { create: true });
    await producer.enqueue('q', 0);

    const { runner } = await world.start({ handlers: { q: () => 'done' } });
    await runner.whenIdle();
    expect(await admin.counts('q')).toMatchObject({ waiting: 1 });
    expect(await consumer.claim('q', { owner: 'ann' })).toEqual([]);

    await admin.configure('q', { enabled: true });
    await eventually(async () => (await admin.counts('q')).completed === 1);
  });

  it('open and close the queue by the time of the database', async () => {
    const world = await setup();
    const { admin, producer, runner } = await world.start({ handlers: { q: () => 'done' } });
    const hour = (offset: number, now: number) => new Date(now + offset * 3_600_000).toISOString().slice(11, 16);
    const now = await world.now();
    await admin.configure('q', { enabled: { from: hour(2, now), to: hour(4, now) } });
    await eventually(async () => (await admin.queues())[0]?.settings.enabled !== undefined);
    await runner.whenIdle();
    await producer.enqueue('q', 0);
    await runner.whenIdle();
    expect(await admin.counts('q')).toMatchObject({ waiting: 1 });

    world.advance(3 * 3_600_000);

    await eventually(async () => (await admin.counts('q')).completed === 1);
  });

  it('are one with those of pause and limit', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });
    const settings = async () => (await admin.queues())[0]!.settings;

    await admin.configure('q', { paused: true, maxRunning: 5, concurrency: 2 }, { create: true });
    expect(await settings()).toEqual({ paused: true, maxRunning: 5, concurrency: 2 });
    expect(await admin.stats()).toMatchObject([{ queue: 'q', settings: { concurrency: 2 } }]);

    await admin.resume('q');
    await admin.limit('q', { maxRunning: false, rate: { limit: 10, per: '1s' } });
    await admin.configure('q', { concurrency: null });
    expect(await settings()).toMatchObject({ maxRunning: null, rate: { limit: 10, perMs: 1_000 } });
    expect(await settings()).not.toHaveProperty('paused');

    await admin.configure('q', null);
    expect(await settings()).toEqual({});
    expect(await admin.queues()).toMatchObject([{ maxRunning: null, rate: null, paused: false }]);
    expect((await admin.audit({ verb: 'configure' })).entries).toHaveLength(3);
  });

  it('that another program has stored badly do not apply', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });
    await admin.configure('q', { concurrency: 2 }, { create: true });
    for (const bad of ['{', '{"concurrency":-1,"enabled":"no"}', '[]']) {
      await world.sql(`UPDATE sql_queue_queues SET settings = '${bad}'`);

      const { producer, runner } = await world.start({ handlers: { q: () => 'done' } });
      await producer.enqueue('q', 0);
      await runner.whenIdle();
      await runner.stop();
    }

    expect((await admin.counts('q')).completed).toBe(3);
  });
});

describeEngines('the function `enabled` of a queue', (setup) => {
  it('is asked at each poll, and its last answer holds if it fails', async () => {
    const world = await setup();
    let answer: () => boolean = () => false;
    const queues = { q: { enabled: () => answer() } };
    const { admin, producer, runner, log } = await world.start({ handlers: { q: () => 'done' }, queues });
    await producer.enqueue('q', 0);
    await runner.whenIdle();
    expect(await admin.counts('q')).toMatchObject({ waiting: 1 });

    answer = () => {
      throw new Error('no flags');
    };
    await eventually(() => log.some((line) => line.includes('The function `enabled` of queue "q" failed')));
    expect(await admin.counts('q')).toMatchObject({ waiting: 1 });

    answer = () => true;
    await eventually(async () => (await admin.counts('q')).completed === 1);
  });

  it.each<[what: string, enabled: () => boolean, problem: string]>([
    ['a text', failingWith('flags are down'), 'flags are down'],
    ['null', failingWith(null), 'null'],
    ['a promise', (() => Promise.reject(new Error('no flags'))) as never, 'expected true or false, got object'],
  ])('stops no queue if it fails with %s, and a warning is logged', async (_, enabled, problem) => {
    const world = await setup();
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    world.afterTest(() => process.off('unhandledRejection', note));
    const handlers = { p: () => 'done', q: () => 'done' };
    const { admin, producer, runner, log } = await world.start({ handlers, queues: { p: { enabled } } });

    const { id } = await producer.enqueue('p', 0);
    await producer.enqueue('q', 0);
    await admin.explain(id);
    await runner.whenIdle();

    expect(log).toContain(`warn: The function \`enabled\` of queue "p" failed, its last answer holds: ${problem}`);
    expect(await admin.counts('p')).toMatchObject({ completed: 1 });
    expect(await admin.counts('q')).toMatchObject({ completed: 1 });
    expect(unhandled).toEqual([]);
  });
});

function failingWith(thrown: unknown): () => never {
  return () => {
    // oxlint-disable-next-line typescript/only-throw-error -- the mistake
    throw thrown;
  };
}
