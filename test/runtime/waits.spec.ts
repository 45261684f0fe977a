import { systemClock, type Clock } from '../../lib/time/clock.js';
import { abortOf, describeEngines, gate, plain, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock, hurry } from '../support/fake-clock.js';
import { claimOf } from '../support/jobs.js';
import { processesOf } from '../support/processes.js';
import { rowsLeft } from '../support/rows-left.js';
import { Traffic } from '../support/traffic.js';

// Whatever a process that polls as rarely is told within a test it has been told by others.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;

describeEngines('whoever waits for a job', (setup) => {
  /** A worker, and a process that only produces. */
  async function pair(settings: Parameters<World['start']>[0] = {}) {
    const world = await setup();
    const worker = await world.start({ handlers: { q: ({ payload }) => payload as unknown }, ...settings });
    const elsewhere = await world.start({ autoStart: false });
    return { world, worker, elsewhere, producer: elsewhere.producer };
  }

  it('gets its result, in the process that runs it and in others', async () => {
    const { worker, producer } = await pair();
    const { id } = await producer.enqueue('q', { answer: [42, null] });

    const results = await Promise.all([producer, worker.producer].map((each) => each.waitFor(id)));

    expect(results).toEqual([{ answer: [42, null] }, { answer: [42, null] }]);
    expect(await producer.waitFor(id)).toEqual({ answer: [42, null] });
  });

  it.each([
    ['null', null, null],
    ['nothing', undefined, undefined],
    ['false', false, false],
  ])('gets %s where the handler returned that', async (_title, value, result) => {
    const { producer } = await pair({ handlers: { q: () => value } });

    expect(await producer.waitFor((await producer.enqueue('q', 0)).id)).toBe(result);
  });

  it('is told with which error it died', async () => {
    const { producer } = await pair({
      handlers: {
        q: () => {
          throw new RangeError('no luck');
        },
      },
    });
    const { id } = await producer.enqueue('q', 0, { retry: 2 });

    const error = { name: 'RangeError', message: 'no luck' };
    await expect(producer.waitFor(id)).rejects.toMatchObject({
      ...{ code: 'JOB_FAILED', jobId: id, queue: 'q', error, cause: error },
      message: `Job ${id} of queue "q" is dead: RangeError: no luck`,
    });
  });

  it.each([{}, { delay: '1h' } as const])('is told that it was cancelled before it ran (%j)', async (options) => {
    const { producer, elsewhere } = await pair({ autoStart: false });
    const { id } = await producer.enqueue('q', 0, options);

    const waiting = kept(producer.waitFor(id));
    await elsewhere.admin.cancel(id);

    await expect(waiting).rejects.toMatchObject({ code: 'JOB_CANCELLED', jobId: id });
  });

  it('is told that it was cancelled while it ran', async () => {
    const { producer, worker } = await pair({
      handlers: { q: async ({ signal }) => (await abortOf(signal)).throwIfAborted() },
    });
    const { id } = await producer.enqueue('q', 0);
    await worker.events.until('started');

    const waiting = kept(producer.waitFor(id));
    await worker.admin.cancel(id);

    await expect(waiting).rejects.toMatchObject({ code: 'JOB_CANCELLED', jobId: id, queue: 'q' });
  });

  it('is told that another program left a result that is no JSON, and keeps nobody else waiting', async () => {
    const { world, producer } = await pair();
    const [odd, job] = [await producer.enqueue('q', 0), await producer.enqueue('q', 1)];
    for (const { id } of [odd, job]) await producer.waitFor(id);
    await world.sql(`UPDATE sql_queue_history SET result = 'printed' WHERE id = ${odd.id}`);

    const [first, second] = await Promise.allSettled([odd, job].map(({ id }) => producer.waitFor(id)));

    expect(first).toMatchObject({
      ...{ status: 'rejected', reason: { code: 'PAYLOAD_INVALID', queue: 'q' } },
    });
    expect(second).toEqual({ status: 'fulfilled', value: 1 });
  });

  it('is told at once that there is no such job', async () => {
    const { producer } = await pair();

    await expect(producer.waitFor(4_711)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', jobId: 4_711 });
  });

  it('is told at once that nothing would be kept of it', async () => {
    const world = await setup();
    const { producer } = await world.start({
      queues: { q: { retention: { completed: false } } },
      autoStart: false,
    });
    const notKept = await producer.enqueue('q', 0);

    await expect(producer.waitFor(notKept.id)).rejects.toMatchObject({
      ...{ code: 'RESULT_NOT_KEPT', jobId: notKept.id, queue: 'q' },
    });
  });

  it.each(['here', 'elsewhere'] as const)('is told that its job was removed %s', async (where) => {
    const world = await setup();
    const here = await world.start({ autoStart: false });
    const elsewhere = await world.start({ autoStart: false });
    const { id } = await here.producer.enqueue('q', 0);
    const request = kept(here.producer.request('q', 1));
    const result = kept(here.producer.waitFor(id));
    await eventually(async () => (await world.sql('SELECT job_id FROM sql_queue_waits')).length === 2);

    await { here, elsewhere }[where].admin.remove({ queue: 'q' });

    await expect(result).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', jobId: id });
    await expect(request).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
  });

  it('is told that a job has ended whose worker keeps no history', async () => {
    const { open, opened } = gate();
    const { world, producer } = await pair({
      handlers: { q: () => opened },
      queues: { q: { retention: { completed: false } } },
    });
    const { id } = await producer.enqueue('q', 0);
    const result = kept(producer.waitFor(id));
    await eventually(async () => (await world.sql('SELECT job_id FROM sql_queue_waits')).length === 1);

    open();

    await expect(result).rejects.toMatchObject({ code: 'RESULT_NOT_KEPT', jobId: id, queue: 'q' });
  });

  it('gives up in time, or at a word, and the job goes on', async () => {
    const { open, opened } = gate();
    const { producer, worker, elsewhere, world } = await pair({
      handlers: { q: () => opened.then(() => 'late') },
    });
    const { id } = await producer.enqueue('q', 0);
    const word = new AbortController();
    const waiting = kept(producer.waitFor(id, { signal: word.signal }));
    const second = producer.waitFor(id);

    await expect(producer.waitFor(id, { timeout: '20ms' })).rejects.toMatchObject({
      ...{ code: 'WAIT_TIMEOUT', jobId: id, timeoutMs: 20 },
    });
    word.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(producer.waitFor(id, { signal: word.signal })).rejects.toThrow('enough');
    open();

    expect(await second).toBe('late');
    expect(await worker.producer.waitFor(id)).toBe('late');
    await elsewhere.close();
    expect(await rowsLeft(world, 'waits')).toEqual({});
  });

  it.each([
    ['id', [0, {}], /a whole number of 1 or more, got 0/],
    ['id', ['7', {}], /a whole number of 1 or more, got "7"/],
    ['timeout', [1, { timeout: -1 }], /expected timeout to be a duration/],
    ['signal', [1, { signal: 'now' }], /expected signal to be an AbortSignal/],
    ['option', [1, { timout: 1 }], /unknown option "timout", did you mean "timeout"/],
    ['options', [1, 5], /expected options to be an object/],
  ])('with a wrong %s is refused before any SQL', async (_what, [id, options], message) => {
    const { producer } = await pair({ autoStart: false });

    await expect(producer.waitFor(id as number, options as object)).rejects.toThrow(message);
  });

  it('is told when its process closes', async () => {
    const { producer, elsewhere, world } = await pair({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    const waiting = kept(producer.waitFor(id));
    const refused = expect(waiting).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });

    await elsewhere.close();

    await refused;
    await expect(producer.waitFor(id)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await rowsLeft(world, 'waits')).toEqual({});
  });
});

describeEngines('a process that looks by itself once an hour', (setup) => {
  // It is in no hurry to look, but does not wait to heed who rings.
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms >= 50 ? 3_600_000 : ms, signal),
  };
  const waiting = (world: World) => world.start({ clock, autoStart: false });

  it.each([
    ['that ends its job', {}],
    ['though that had no room to hear that somebody waits', { q: { concurrency: 1, prefetch: 0 } }],
  ])('is woken by the worker %s', async (_, queues) => {
    const world = await setup();
    const { open, opened } = gate();
    const handlers = { q: () => opened.then(() => 'done') };
    const worker = await world.start({ worker: HARDLY_EVER, queues, handlers });
    const { producer, waitersBell } = await waiting(world);
    const { id } = await producer.enqueue('q', 0);
    await worker.events.until('started');

    const result = kept(producer.waitFor(id));
    await waitersBell.untilListening();
    open();

    expect(await result).toBe('done');
  });

  it('is woken by the worker of another process, time after time', async () => {
    const world = await setup();
    const { producer, waitersBell } = await waiting(world);
    const worker = await (await processesOf(world)).worker({ worker: HARDLY_EVER });
    const { id } = await producer.enqueue('q', { hold: true });
    await worker.untilSaid('holding', id);
    const first = producer.waitFor(id);
    await waitersBell.untilListening();
    worker.tell({ finish: true });
    expect(await first).toBe(worker.pid);

    for (let count = 0; count < 20; count++) {
      const next = await producer.enqueue('q', {});
      expect(await producer.waitFor(next.id)).toBe(worker.pid);
    }
  });

  it('is told at once how far its request is', async () => {
    const world = await setup();
    const steps = [gate(), gate()];
    const worker = await world.start({
      worker: HARDLY_EVER,
      handlers: {
        q: async (job) => {
          await steps[0]!.opened;
          job.progress('half');
          await steps[1]!.opened;
          return 'done';
        },
      },
    });
    const { producer, waitersBell } = await waiting(world);
    const told = gate<unknown>();

    const answer = kept(producer.request('q', 0, { timeout: '1d', onProgress: told.open }));
    await worker.events.until('started');
    await waitersBell.untilListening();
    steps[0]!.open();
    const first = await told.opened;
    steps[1]!.open();

    expect([first, await answer]).toEqual(['half', 'done']);
    // Whoever listens anew, every 20 s, looks as well.
  }, 15_000);

  it('is woken by whoever cancels its job', async () => {
    const world = await setup();
    const { producer, waitersBell } = await waiting(world);
    const elsewhere = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0, { delay: '1h' });
    const result = kept(producer.waitFor(id));
    await waitersBell.untilListening();

    await elsewhere.admin.cancel(id);

    await expect(result).rejects.toMatchObject({ code: 'JOB_CANCELLED' });
  });

  it('is woken when a job is rescued for the last time', async () => {
    const world = await setup();
    const { producer, waitersBell } = await waiting(world);
    const { id } = await producer.enqueue('q', 0, { retry: 1 });
    const { store } = await world.start({ autoStart: false });
    const [strategy] = (await store.chooseStrategies(new Map([['q', 'auto']]))).of.values();
    await store.claim(claimOf({ strategy: strategy!.name }));
    const result = kept(producer.waitFor(id));
    await waitersBell.untilListening();

    world.advance(60_000);
    await world.start({ handlers: { q: () => 'done' } });

    await expect(result).rejects.toMatchObject({ code: 'JOB_FAILED', error: { code: 'WORKER_LOST' } });
  });
});

describeEngines('a process that nobody wakes', (setup) => {
  it('finds out by itself, within a second', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const settings = { clock, skewMs: () => 0, worker: { doorbell: false } as const };
    const { producer } = await world.start({ ...settings, autoStart: false });
    const worker = await world.start({ handlers: { q: () => 'done' } });
    const { id } = await producer.enqueue('q', 0, { delay: '1h' });
    const result = kept(producer.waitFor(id));
    await clock.resting(55);

    world.advance(3_600_000);
    await worker.events.until('completed');

    expect(await hurry(clock, result)).toBe('done');
    // The last is that of a process which waits for nothing any more.
    expect(Math.max(...clock.rests.slice(0, -1))).toBeLessThanOrEqual(1_200);
  });
});

describeEngines(
  'a process that waits for a thousand jobs',
  (setup) => {
    it('looks for all of them with one statement, and notes them with another', async () => {
      const world = await setup();
      const traffic = new Traffic();
      const dataSource = await world.connect({ driver: traffic.driver });
      const { producer, close } = await world.start({ dataSource, autoStart: false, worker: { doorbell: false } });
      const jobs = await producer.enqueueMany('q', plain(1_000));
      traffic.take();

      const waits = jobs.map(({ id }) => producer.waitFor(id).catch((error: { code: string }) => error.code));
      const sent: string[] = [];
      await eventually(() => {
        sent.push(...traffic.take().flatMap(({ statements }) => statements));
        return sent.length >= 3;
      });
      await close();

      expect(sent.slice(0, 3).map((sql) => sql.split(' ')[0])).toEqual(['SELECT', 'REPLACE', 'SELECT']);
      expect(new Set(await Promise.all(waits))).toEqual(new Set(['STORE_UNAVAILABLE']));
    });
  },
  ['mysql', 'mariadb'],
);

/** A promise that may be rejected before the test comes to look. */
function kept<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
