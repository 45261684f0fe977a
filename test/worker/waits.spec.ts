import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import { systemClock, type Clock } from '../../lib/common/clock.js';
import { untilAborted, describeEngines, gate, plainJobs, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeClock, advanceUntilDone } from '../support/fake-clock.js';
import { claimRequest } from '../support/jobs.js';
import { processesOf } from '../support/processes.js';
import { countRemainingRows } from '../support/remaining-rows.js';
import { Traffic } from '../support/traffic.js';

// A process with this interval learns nothing from its own polls within a test.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;

describeEngines('a waiter for a job', (setup) => {
  /** Returns a worker, and a process that only produces. */
  async function pair(settings: Parameters<World['start']>[0] = {}) {
    const world = await setup();
    const worker = await world.start({ handlers: { q: ({ payload }) => payload as unknown }, ...settings });
    const elsewhere = await world.start({ autoStart: false });
    return { world, worker, elsewhere, producer: elsewhere.producer };
  }

  it('receives the result, in the process that runs the job and in others', async () => {
    const { worker, producer } = await pair();
    const { id } = await producer.enqueue('q', { answer: [42, null] });

    const results = await Promise.all([producer, worker.producer].map((each) => each.waitFor(id)));

    expect(results).toEqual([{ answer: [42, null] }, { answer: [42, null] }]);
    expect(await producer.waitFor(id)).toEqual({ answer: [42, null] });
  });

  it.each([
    ['null', null, null],
    ['undefined', undefined, undefined],
    ['false', false, false],
  ])('receives %s if the handler returned it', async (_title, value, result) => {
    const { producer } = await pair({ handlers: { q: () => value } });

    expect(await producer.waitFor((await producer.enqueue('q', 0)).id)).toBe(result);
  });

  it('receives the error of a dead job', async () => {
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

  it.each([{}, { delay: '1h' } as const])(
    'is rejected if the job is cancelled before it runs (%j)',
    async (options) => {
      const { producer, elsewhere } = await pair({ autoStart: false });
      const { id } = await producer.enqueue('q', 0, options);

      const waiting = kept(producer.waitFor(id));
      await elsewhere.admin.cancel(id);

      await expect(waiting).rejects.toMatchObject({ code: 'JOB_CANCELLED', jobId: id });
    },
  );

  it('is rejected if the job is cancelled while it runs', async () => {
    const { producer, worker } = await pair({
      handlers: { q: async ({ signal }) => (await untilAborted(signal)).throwIfAborted() },
    });
    const { id } = await producer.enqueue('q', 0);
    await worker.events.until('started');

    const waiting = kept(producer.waitFor(id));
    await worker.admin.cancel(id);

    await expect(waiting).rejects.toMatchObject({ code: 'JOB_CANCELLED', jobId: id, queue: 'q' });
  });

  it('is rejected if another program stored a result that is not JSON, without an effect on other waiters', async () => {
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

  it('is rejected at once if the job does not exist', async () => {
    const { producer } = await pair();

    await expect(producer.waitFor(4_711)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', jobId: 4_711 });
  });

  it('is rejected at once if the result will not be retained', async () => {
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

  it.each(['1h', { completed: '1h' }] as const)(
    'receives the result of a job with a retention of its own (%j), whatever its queue keeps',
    async (retention) => {
      const world = await setup();
      const { producer, runner } = await world.start({
        queues: { q: { retention: { completed: false } } },
        handlers: { q: () => 'kept' },
        autoStart: false,
      });
      const { id } = await producer.enqueue('q', 0, { retention });

      const waiting = kept(producer.waitFor(id));
      const registered = async () => (await world.sql('SELECT job_id FROM sql_queue_waits')).length === 1;
      await Promise.race([waiting, eventually(registered)]);
      await runner.start();

      expect(await waiting).toBe('kept');
    },
  );

  it('is rejected at once if the job itself retains no result', async () => {
    const world = await setup();
    const { producer } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0, { retention: { completed: false } });

    await expect(producer.waitFor(id)).rejects.toMatchObject({ code: 'RESULT_NOT_KEPT', jobId: id, queue: 'q' });
  });

  it.each(['here', 'elsewhere'] as const)('is rejected if its job is removed %s', async (where) => {
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

  it('is rejected when the job ends if the worker keeps no history', async () => {
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

  it('gives up after its timeout or by its signal, and the job goes on', async () => {
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
    expect(await countRemainingRows(world, 'waits')).toEqual({});
  });

  it.each([
    ['id', [0, {}], /a whole number of 1 or more, got 0/],
    ['id', ['7', {}], /a whole number of 1 or more, got "7"/],
    ['timeout', [1, { timeout: -1 }], /expected timeout to be a duration/],
    ['signal', [1, { signal: 'now' }], /expected signal to be an AbortSignal/],
    ['option', [1, { timout: 1 }], /unknown option "timout", did you mean "timeout"/],
    ['options', [1, 5], /expected options to be an object/],
  ])('is rejected before any SQL with an invalid %s', async (_what, [id, options], message) => {
    const { producer } = await pair({ autoStart: false });

    await expect(producer.waitFor(id as number, options as object)).rejects.toThrow(message);
  });

  it('is rejected when its process closes', async () => {
    const { producer, elsewhere, world } = await pair({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    const waiting = kept(producer.waitFor(id));
    const refused = expect(waiting).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });

    await elsewhere.close();

    await refused;
    await expect(producer.waitFor(id)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await countRemainingRows(world, 'waits')).toEqual({});
  });
});

describeEngines('a process that polls once an hour', (setup) => {
  // This clock delays polls and keeps the short delay before a reaction to a notification.
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms >= 50 ? 3_600_000 : ms, signal),
  };
  const waiting = (world: World) => world.start({ clock, autoStart: false });

  it.each([
    ['ends its job', {}],
    ['ends its job without a slot free to listen', { q: { concurrency: 1, prefetch: 0 } }],
  ])('is notified by a worker that %s', async (_, queues) => {
    const world = await setup();
    const { open, opened } = gate();
    const handlers = { q: () => opened.then(() => 'done') };
    const worker = await world.start({ worker: HARDLY_EVER, queues, handlers });
    const { producer, waiterChannel } = await waiting(world);
    const { id } = await producer.enqueue('q', 0);
    await worker.events.until('started');

    const result = kept(producer.waitFor(id));
    await waiterChannel.untilListening();
    open();

    expect(await result).toBe('done');
  });

  it('is notified by the worker of another process, each time', async () => {
    const world = await setup();
    const { producer, waiterChannel } = await waiting(world);
    const worker = await (await processesOf(world)).worker({ worker: HARDLY_EVER });
    const { id } = await producer.enqueue('q', { hold: true });
    await worker.untilMessage('holding', id);
    const first = producer.waitFor(id);
    await waiterChannel.untilListening();
    worker.send({ finish: true });
    expect(await first).toBe(worker.pid);

    for (let count = 0; count < 20; count++) {
      const next = await producer.enqueue('q', {});
      expect(await producer.waitFor(next.id)).toBe(worker.pid);
    }
  });

  it('receives the progress of its request at once', async () => {
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
    const { producer, waiterChannel } = await waiting(world);
    const told = gate<unknown>();

    const answer = kept(producer.request('q', 0, { timeout: '1d', onProgress: told.open }));
    await worker.events.until('started');
    await waiterChannel.untilListening();
    steps[0]!.open();
    const first = await told.opened;
    steps[1]!.open();

    expect([first, await answer]).toEqual(['half', 'done']);
    // A listener that restarts, every 20 s, polls as well.
  }, 19_000);

  it.each<[string, string, (admin: QueueAdmin, id: number) => Promise<unknown>]>([
    ['cancels its job', 'JOB_CANCELLED', (admin, id) => admin.cancel(id)],
    ['cancels several jobs', 'JOB_CANCELLED', (admin, id) => admin.cancel([id])],
    ['removes its job', 'JOB_NOT_FOUND', (admin, id) => admin.remove(id)],
    ['obliterates its queue', 'JOB_NOT_FOUND', (admin) => admin.obliterate('q', { confirm: 'q' })],
    ['erases the subject of its job', 'JOB_CANCELLED', (admin) => admin.erase('ann')],
  ])('is notified when another process %s', async (_, code, end) => {
    const world = await setup();
    const { producer, waiterChannel } = await waiting(world);
    const elsewhere = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0, { delay: '1h', subject: 'ann' });
    const result = kept(producer.waitFor(id));
    await waiterChannel.untilListening();

    await end(elsewhere.admin, id);

    await expect(result).rejects.toMatchObject({ code });
  });

  it.each<[string, (world: World) => Promise<unknown>]>([
    ['a worker', (world) => world.start({ handlers: { q: () => 'done' } })],
    [
      'the claim of a process without a worker',
      async (world) => (await world.start({ autoStart: false })).consumer.claim('q', { owner: 'ann' }),
    ],
  ])('is notified when %s rescues its job for the last time', async (_, rescue) => {
    const world = await setup();
    const { producer, waiterChannel } = await waiting(world);
    const { id } = await producer.enqueue('q', 0, { retry: 1 });
    const { store } = await world.start({ autoStart: false });
    const [strategy] = (await store.chooseStrategies(new Map([['q', 'auto']]))).byQueue.values();
    await store.claim(claimRequest({ strategy: strategy!.name }));
    const result = kept(producer.waitFor(id));
    await waiterChannel.untilListening();

    world.advance(60_000);
    await rescue(world);

    await expect(result).rejects.toMatchObject({ code: 'JOB_FAILED', error: { code: 'WORKER_LOST' } });
  });
});

describeEngines('a process without notifications', (setup) => {
  it('finds the outcome by polling within a second', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const worker = await world.start({ handlers: { q: () => 'done' } });
    const { producer } = await world.start({
      ...{ clock, skewMs: () => 0, worker: { notify: false }, autoStart: false },
      // It looks for no worker of the queue.
      queues: { q: { expectWorker: false } },
    });
    const { id } = await producer.enqueue('q', 0, { delay: '1h' });
    const result = kept(producer.waitFor(id));
    await clock.untilSleeping(55);

    world.advance(3_600_000);
    await worker.events.until('completed');

    expect(await advanceUntilDone(clock, result)).toBe('done');
    // The last sleep belongs to a process without waiters.
    expect(Math.max(...clock.sleeps.slice(0, -1))).toBeLessThanOrEqual(1_200);
  });
});

describeEngines(
  'a process that waits for a thousand jobs',
  (setup) => {
    it('reads all of them with one statement and stores the waits with another', async () => {
      const world = await setup();
      const traffic = new Traffic();
      const dataSource = await world.connect({ driver: traffic.driver });
      const { producer, close } = await world.start({ dataSource, autoStart: false, worker: { notify: false } });
      const jobs = await producer.enqueueMany('q', plainJobs(1_000));
      traffic.drain();

      const waits = jobs.map(({ id }) => producer.waitFor(id).catch((error: { code: string }) => error.code));
      const sent: string[] = [];
      await eventually(() => {
        sent.push(...traffic.drain().flatMap(({ statements }) => statements));
        return sent.length >= 3;
      });
      await close();

      expect(sent.slice(0, 3).map((sql) => sql.split(' ')[0])).toEqual(['SELECT', 'REPLACE', 'SELECT']);
      expect(new Set(await Promise.all(waits))).toEqual(new Set(['STORE_UNAVAILABLE']));
    });
  },
  ['mysql', 'mariadb'],
);

/** Lets the promise reject before the test awaits it. */
function kept<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
