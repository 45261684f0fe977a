import { InvalidOptionsError } from '../../lib/job/errors.js';
import type { JobFilter } from '../../lib/store/admin/admin-store.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate, type World } from '../support/engines.js';

async function find(world: Awaited<ReturnType<World['start']>>, filter: JobFilter): Promise<unknown[]> {
  return (await world.admin.find(filter)).jobs.map(({ payload }) => payload);
}

describeEngines('admin.find', (setup) => {
  it('finds jobs by their key, waiting and finished ones', async () => {
    const world = await setup();
    const engine = await world.start({ handlers: { q: () => undefined } });
    const key = 'user "42" \\ ü';
    await engine.producer.enqueue('q', 'first', { key });
    await engine.runner.whenIdle();
    await engine.runner.stop();
    await engine.producer.enqueue('q', 'second', { key });
    await engine.producer.enqueue('q', 'other', { key: 'user "42"' });

    expect(await find(engine, { key })).toEqual(['first', 'second']);
    expect(await find(engine, { key, state: 'waiting' })).toEqual(['second']);
    expect(await find(engine, { key: 'user' })).toEqual([]);
  });

  it('finds the jobs of a group, in each state', async () => {
    const world = await setup();
    const [started, ended] = [gate(), gate()];
    world.afterTest(() => ended.open());
    const engine = await world.start({
      queues: { q: { prefetch: 0, groups: { concurrency: 1 } } },
      handlers: {
        q: async ({ payload }: JobContext) => {
          if (payload !== 'running') return;
          started.open();
          await ended.opened;
        },
      },
    });
    const group = 'user "42" \\ ü';
    const key = 'order "42"';
    await engine.producer.enqueue('q', 'done', { group, key });
    await engine.events.until('completed');
    await engine.producer.enqueue('q', 'running', { group });
    await started.opened;
    await engine.producer.enqueue('q', 'urgent', { group, priority: -1 });
    await engine.producer.enqueue('q', 'waiting', { group });
    await engine.producer.enqueue('q', 'later', { group, delay: '1h' });
    await engine.producer.enqueue('q', 'other', { group: 'user "42"', delay: '1h' });

    expect(await find(engine, { group })).toEqual(['done', 'running', 'urgent', 'waiting', 'later']);
    expect(await find(engine, { queue: 'q', group })).toEqual(['done', 'running', 'urgent', 'waiting', 'later']);
    for (const [state, payloads] of Object.entries({
      completed: ['done'],
      active: ['running'],
      waiting: ['urgent', 'waiting'],
      scheduled: ['later'],
      dead: [],
    })) {
      expect(await find(engine, { group, state } as JobFilter), state).toEqual(payloads);
      expect(await find(engine, { queue: 'q', group, state } as JobFilter), `${state} in its queue`).toEqual(payloads);
    }
    expect(await find(engine, { group: 'user' })).toEqual([]);
    expect(await find(engine, { queue: 'p', group })).toEqual([]);
    expect(await find(engine, { key, state: 'completed' })).toEqual(['done']);
    expect(await engine.admin.cancel({ group, state: 'waiting' })).toBe(2);
  });

  it('finds the jobs of a schedule, live and finished, with their ticks', async () => {
    const world = await setup();
    const engine = await world.start({ handlers: { q: () => undefined } });
    // No tick comes while the test runs.
    await engine.schedules.upsert('leap', { queue: 'q', cron: '0 3 29 2 *', payload: 'a' });
    await engine.schedules.upsert('leap:2', { queue: 'q', cron: '0 3 29 2 *', payload: 'b' });
    const finished = await engine.schedules.runNow('leap');
    await engine.events.until('completed');
    await engine.runner.stop();
    const waiting = await engine.schedules.runNow('leap');
    await engine.schedules.runNow('leap:2');
    await engine.producer.enqueue('q', 'by hand');

    const { jobs } = await engine.admin.find({ queue: 'q', schedule: 'leap' }, { order: 'newest' });

    expect(jobs.map(({ id, state }) => [id, state])).toEqual([
      [waiting, 'waiting'],
      [finished, 'completed'],
    ]);
    expect(jobs[0]!.schedule).toEqual({ name: 'leap', at: expect.any(Date), missed: false });
    expect(await find(engine, { schedule: 'leap' })).toEqual(['a', 'a']);
    expect(await find(engine, { schedule: 'lea' })).toEqual([]);
  });

  it('finds the jobs of a schedule after they have slept within their `expiresIn`', async () => {
    const world = await setup();
    const engine = await world.start({
      handlers: {
        q: async (job: JobContext) => {
          await job.sleep('long', '1h');
          return job.payload === 'copied' ? undefined : 'done';
        },
      },
    });
    // No tick comes within the hour that the test advances.
    for (const name of ['asleep', 'copied', 'written']) {
      const options = { expiresIn: '1d' } as const;
      await engine.schedules.upsert(name, { queue: 'q', cron: '0 3 29 2 *', payload: name, options });
    }
    const statesOf = async (schedule: string) => (await engine.admin.find({ schedule })).jobs.map(({ state }) => state);

    for (const name of ['copied', 'written']) await engine.schedules.runNow(name);
    await engine.events.untilCount(2, 'snoozed');
    const asleep = await statesOf('copied');
    world.advance(3_600_000);
    await engine.events.untilCount(2, 'completed');
    await engine.schedules.runNow('asleep');
    await engine.events.untilCount(3, 'snoozed');

    expect(asleep).toEqual(['scheduled']);
    expect(await statesOf('copied')).toEqual(['completed']);
    expect(await statesOf('written')).toEqual(['completed']);
    expect(await engine.admin.cancel({ schedule: 'asleep' })).toBe(1);
    expect(await statesOf('asleep')).toEqual(['cancelled']);
  });

  it('finds jobs that have all of the headers', async () => {
    const world = await setup();
    const engine = await world.start({ autoStart: false });
    const put = (payload: string, headers: Record<string, string>) =>
      engine.producer.enqueue('q', payload, { headers });
    await put('both', { tenant: '42', trace: 'a"b' });
    await put('one', { tenant: '42' });
    await put('longer', { tenant: '421' });
    await put('within a value', { note: '"tenant":"42"' });

    expect(await find(engine, { headers: { tenant: '42' } })).toEqual(['both', 'one']);
    expect(await find(engine, { headers: { trace: 'a"b', tenant: '42' } })).toEqual(['both']);
  });

  it('finds the jobs that a worker runs, and those that it has run', async () => {
    const world = await setup();
    const [started, ended] = [gate(), gate()];
    world.afterTest(() => ended.open());
    const engine = await world.start({
      queues: { q: { prefetch: 0, concurrency: 1 } },
      handlers: {
        q: async ({ payload }: JobContext) => {
          if (payload !== 'running') return;
          started.open();
          await ended.opened;
        },
      },
    });
    await engine.producer.enqueue('q', 'done');
    await engine.events.until('completed');
    await engine.producer.enqueue('q', 'running');
    await started.opened;
    await engine.producer.enqueue('q', 'waiting');
    const { worker } = (await engine.admin.find({ state: 'active' })).jobs[0]!;

    expect(await find(engine, { worker: worker! })).toEqual(['done', 'running']);
    expect(await find(engine, { worker: worker!, state: 'active' })).toEqual(['running']);
    expect(await find(engine, { worker: worker!, state: 'waiting' })).toEqual([]);
    expect(await find(engine, { worker: 'another' })).toEqual([]);
  });

  it('finds the jobs of an owner', async () => {
    const world = await setup();
    const engine = await world.start({ autoStart: false });
    for (const payload of ['a', 'b', 'c']) await engine.producer.enqueue('q', payload);
    const [first] = await engine.consumer.claim('q', { limit: 1, owner: 'ann' });
    await engine.consumer.claim('q', { limit: 1, owner: 'bob' });

    expect(await find(engine, { owner: 'ann' })).toEqual(['a']);
    await engine.consumer.complete(first!.id, { owner: 'ann' });
    expect(await find(engine, { owner: 'ann' })).toEqual(['a']);
    expect(await find(engine, { owner: 'ann', state: 'active' })).toEqual([]);
  });

  it('finds jobs that were enqueued within a time', async () => {
    const world = await setup();
    const engine = await world.start({ autoStart: false });
    for (const payload of ['a', 'b', 'c']) await engine.producer.enqueue('q', payload);
    // The jobs may have the same time.
    await world.sql('UPDATE sql_queue_jobs SET created_at = created_at + 60000 * id');
    const [, second] = (await engine.admin.find()).jobs;
    const { createdAt } = second!;

    expect(await find(engine, { createdAfter: createdAt })).toEqual(['b', 'c']);
    expect(await find(engine, { createdBefore: createdAt })).toEqual(['a']);
  });

  it.each([
    [{ key: '' }, /key to be the key of a job/],
    [{ group: '' }, /group to be the name of a group/],
    [{ schedule: 7 }, /schedule to be the name of a schedule/],
    [{ owner: 7 }, /owner to be the name of an owner/],
    [{ worker: null }, /worker to be the id of a worker/],
    [{ headers: { a: 1 } }, /header "a" to be a text/],
    [{ createdAfter: 'now' }, /createdAfter to be a Date/],
    [{ sate: 'dead' }, /unknown option "sate", did you mean "state"/],
  ])('rejects the filter %o', async (filter, problem) => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    const refused = await admin.find(filter as never).catch((error: unknown) => error);

    expect(refused).toBeInstanceOf(InvalidOptionsError);
    expect((refused as Error).message).toMatch(problem);
  });
});
