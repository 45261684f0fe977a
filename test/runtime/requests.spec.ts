import { abortOf, describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { rowsLeft } from '../support/rows-left.js';

describeEngines('a request', (setup) => {
  async function pair(settings: Parameters<World['start']>[0] = {}) {
    const world = await setup();
    const worker = await world.start({
      handlers: { double: ({ payload }) => 2 * (payload as number) },
      defaults: { retention: { completed: false, dead: false } },
      ...settings,
    });
    const { producer, admin } = await world.start({ autoStart: false });
    return { world, worker, producer, admin };
  }

  it('is answered by another process, though its queue keeps nothing, and leaves nothing behind', async () => {
    const { world, producer } = await pair();

    const answers = await Promise.all([1, 2, 3].map((n) => producer.request('double', n)));

    expect(answers).toEqual([2, 4, 6]);
    expect(await rowsLeft(world)).toEqual({});
  });

  it('that dies is answered with its error, and leaves nothing behind', async () => {
    const { world, producer } = await pair({
      handlers: {
        q: () => {
          throw new RangeError('no luck');
        },
      },
    });

    await expect(producer.request('q', 0, { retry: 1, name: 'n' })).rejects.toMatchObject({
      ...{ code: 'JOB_FAILED', error: { name: 'RangeError' } },
    });
    expect(await rowsLeft(world)).toEqual({});
  });

  it('that nobody works is taken back in time, or at a word, and leaves nothing behind', async () => {
    const { world, producer } = await pair({ autoStart: false });
    const word = new AbortController();

    await expect(producer.request('q', 0, { timeout: '20ms' })).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' });
    const waiting = producer.request('q', 0, { signal: word.signal });
    waiting.catch(() => undefined);
    await eventually(async () => Object.keys(await rowsLeft(world, 'waits')).length > 0);
    word.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(producer.request('q', 0, { signal: word.signal })).rejects.toThrow('enough');

    await eventually(async () => Object.keys(await rowsLeft(world)).length === 0);
  });

  it('whose process closes is taken back, and leaves nothing behind', async () => {
    const world = await setup();
    const { producer, close } = await world.start({ autoStart: false });
    const answer = producer.request('q', 0);
    const refused = expect(answer).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await eventually(async () => Object.keys(await rowsLeft(world, 'waits')).length > 0);

    await close();

    await refused;
    expect(await rowsLeft(world)).toEqual({});
  });

  it('that runs too long for whoever asked has its signal aborted, and is gone in a minute', async () => {
    const { world, worker, producer } = await pair({
      handlers: { q: async ({ signal }) => (await abortOf(signal)).throwIfAborted() },
      defaults: { lease: '1s' },
    });

    const word = new AbortController();

    const answer = producer.request('q', 0, { signal: word.signal });
    await worker.events.until('started');
    word.abort(new Error('too long'));
    await expect(answer).rejects.toThrow('too long');
    await worker.events.until('cancelled');
    world.advance(60_001);
    await worker.admin.prune();

    expect(await rowsLeft(world)).toEqual({});
  });

  it.each([
    ['a manager', { manager: {} }, /expected no manager, got one: nobody can see the job/],
    ['both at once', { timeout: -1, signal: 5 }, /timeout[\s\S]*signal/],
    ['a wrong option', { priorty: 1 }, /unknown option "priorty"/],
  ])('with %s is refused before any SQL', async (_what, options, message) => {
    const { world, producer } = await pair({ autoStart: false });

    await expect(producer.request('q', 0, options as object)).rejects.toMatchObject({
      ...{ code: 'INVALID_OPTIONS', message: expect.stringMatching(message) as string },
    });
    expect(await rowsLeft(world)).toEqual({});
  });

  it('is answered by a person, though its queue keeps nothing', async () => {
    const { world, producer, worker } = await pair();
    const answer = producer.request('by-hand', 'question');
    const [task] = await eventually(async () => {
      const tasks = await worker.consumer.claim('by-hand', { owner: 'ann' });
      return tasks.length > 0 && tasks;
    });

    await worker.consumer.complete(task!.id, { owner: 'ann', result: 'answer' });

    expect(await answer).toBe('answer');
    expect(await rowsLeft(world)).toEqual({});
  });

  it('cannot be made within a transaction', async () => {
    const { world, producer } = await pair({ autoStart: false });

    const asking = world.dataSource.transaction((manager) => producer.withManager(manager).request('q', 0));

    await expect(asking).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('is answered to a handler that asks in the middle of its own work', async () => {
    const world = await setup();
    const engine = await world.start({
      handlers: {
        ask: async ({ payload }) => `${String(await engine.producer.request('answer', payload as object))}!`,
        answer: ({ payload }) => `heard ${String(payload)}`,
      },
    });

    const { id } = await engine.producer.enqueue('ask', 'you');

    expect(await engine.producer.waitFor(id)).toBe('heard you!');
  });
});
