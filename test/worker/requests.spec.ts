import { untilAborted, describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { countRemainingRows } from '../support/remaining-rows.js';

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

  it('is answered by another process, even without retention, and leaves no rows', async () => {
    const { world, producer } = await pair();

    const answers = await Promise.all([1, 2, 3].map((n) => producer.request('double', n)));

    expect(answers).toEqual([2, 4, 6]);
    expect(await countRemainingRows(world)).toEqual({});
  });

  it('is answered with the error of its dead job, and leaves no rows', async () => {
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
    expect(await countRemainingRows(world)).toEqual({});
  });

  it('is withdrawn after its timeout or by its signal if no worker runs it, and leaves no rows', async () => {
    const { world, producer } = await pair({ autoStart: false });
    const word = new AbortController();

    await expect(producer.request('q', 0, { timeout: '20ms' })).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' });
    const waiting = producer.request('q', 0, { signal: word.signal });
    waiting.catch(() => undefined);
    await eventually(async () => Object.keys(await countRemainingRows(world, 'waits')).length > 0);
    word.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(producer.request('q', 0, { signal: word.signal })).rejects.toThrow('enough');

    await eventually(async () => Object.keys(await countRemainingRows(world)).length === 0);
  });

  it('is withdrawn by its signal if the reason is the error of another request', async () => {
    const { world, producer } = await pair({
      handlers: {
        bad: () => {
          throw new RangeError('no luck');
        },
      },
    });
    const word = new AbortController();
    const waiting = producer.request('unserved', 0, { signal: word.signal });
    waiting.catch(() => undefined);
    await eventually(async () => Object.keys(await countRemainingRows(world, 'waits')).length > 0);

    const failure: unknown = await producer.request('bad', 0, { retry: 1 }).catch((error: unknown) => error);
    word.abort(failure);

    await expect(waiting).rejects.toBe(failure);
    expect(failure).toMatchObject({ code: 'JOB_FAILED' });
    expect(await world.sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
  });

  it('names the cause in its timeout if a handler requests from its own queue, which has no free slot', async () => {
    const world = await setup();
    const engine = await world.start({
      queues: { q: { concurrency: 1, retry: 1 } },
      handlers: { q: () => engine.producer.request('q', 1, { timeout: '50ms' }) },
    });

    await engine.producer.enqueue('q', 0);
    const { error } = await engine.events.until('dead');

    expect(error!.message).toMatch(/has not ended within 50 ms\. All slots .* "q" are busy\. .*`concurrency`/);
  });

  it('is withdrawn when its process closes, and leaves no rows', async () => {
    const world = await setup();
    const { producer, close } = await world.start({ autoStart: false });
    const answer = producer.request('q', 0);
    const refused = expect(answer).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await eventually(async () => Object.keys(await countRemainingRows(world, 'waits')).length > 0);

    await close();

    await refused;
    expect(await countRemainingRows(world)).toEqual({});
  });

  it('has its job aborted when its caller gives up, and leaves no rows after a minute', async () => {
    const { world, worker, producer } = await pair({
      handlers: { q: async ({ signal }) => (await untilAborted(signal)).throwIfAborted() },
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

    expect(await countRemainingRows(world)).toEqual({});
  });

  it.each([
    ['a manager', { manager: {} }, /expected no manager, got one: no worker can see the job/],
    ['an invalid timeout and signal', { timeout: -1, signal: 5 }, /timeout[\s\S]*signal/],
    ['an unknown option', { priorty: 1 }, /unknown option "priorty"/],
  ])('is rejected before any SQL with %s', async (_what, options, message) => {
    const { world, producer } = await pair({ autoStart: false });

    await expect(producer.request('q', 0, options as object)).rejects.toMatchObject({
      ...{ code: 'INVALID_OPTIONS', message: expect.stringMatching(message) as string },
    });
    expect(await countRemainingRows(world)).toEqual({});
  });

  it('is answered by a claim holder, even without retention', async () => {
    const { world, producer, worker } = await pair();
    const answer = producer.request('by-hand', 'question');
    const [task] = await eventually(async () => {
      const tasks = await worker.consumer.claim('by-hand', { owner: 'ann' });
      return tasks.length > 0 && tasks;
    });

    await worker.consumer.complete(task!.id, { owner: 'ann', result: 'answer' });

    expect(await answer).toBe('answer');
    expect(await countRemainingRows(world)).toEqual({});
  });

  it('is rejected within a transaction', async () => {
    const { world, producer } = await pair({ autoStart: false });

    const asking = world.dataSource.transaction((manager) => producer.withManager(manager).request('q', 0));

    await expect(asking).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('is answered to a handler that sends it during its own run', async () => {
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
