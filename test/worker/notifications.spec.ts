import type { Engine } from '../support/engine.js';
import { describeEngines, gate, plainJobs, type World } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { processesOf } from '../support/processes.js';

// The tests do not depend on a poll.
const RARE_POLL = { poll: { min: '1h', max: '1h' } } as const;

// They do not depend on the read at the end of a listen period of 20 s either.
const NO_NOTIFICATION = 'none';

type Settings = Parameters<World['start']>[0];

describeEngines('a worker that rarely polls', (setup) => {
  /** Returns a worker that listens after it found no work, and a process that only produces. */
  async function pair(settings: Settings = {}) {
    const world = await setup();
    const worker = await listener(world, settings);
    const elsewhere = await world.start({ autoStart: false });
    return { world, worker, elsewhere, producer: elsewhere.producer };
  }

  async function listener(world: World, settings: Settings = {}): Promise<Engine> {
    const worker = await world.start({ worker: RARE_POLL, handlers: { q: () => 'done' }, ...settings });
    await listening(worker);
    // A worker that claims while it begins to listen listens again after the claim.
    worker.workerChannel.received.length = 0;
    return worker;
  }

  /** Waits until only a notification can make the worker find a job. */
  async function listening({ workerChannel, runner }: Engine, ...queues: string[]): Promise<void> {
    await workerChannel.untilListening(...queues);
    await runner.whenIdle();
    await workerChannel.untilListening(...queues);
  }

  it('runs each job that another engine enqueues', async () => {
    const { worker, producer } = await pair();

    for (let count = 1; count <= 30; count++) {
      await producer.enqueue('q', 0);
      await worker.events.untilCount(count, 'completed');
    }

    expect(worker.log).toEqual([]);
  });

  it('runs each job that another process enqueues', async () => {
    const world = await setup();
    const { producer } = await world.start({ autoStart: false });
    const process = await (await processesOf(world)).worker({ worker: RARE_POLL, forward: ['completed'] });

    for (let count = 1; count <= 30; count++) {
      await producer.enqueue('q', {});
      await process.events.untilCount(count, 'completed');
    }
  });

  it.each(['releases', 'fails for an immediate retry'])(
    'runs a job that a claim holder in another engine %s',
    async (what) => {
      const world = await setup();
      const { producer, consumer } = await world.start({ autoStart: false });
      const { id } = await producer.enqueue('q', 0);
      await consumer.claim('q', { owner: 'ann' });
      const worker = await listener(world);

      if (what === 'releases') await consumer.release(id, { owner: 'ann' });
      else await consumer.fail(id, { owner: 'ann', error: 'torn', retry: 0 });
      await worker.events.until('completed');

      expect(worker.events.jobs('completed')).toEqual([id]);
    },
  );

  it('is notified of a job when its transaction has committed, and not before', async () => {
    const { worker, elsewhere, world } = await pair();

    await world.dataSource.transaction(async (manager) => {
      await elsewhere.producer.enqueue('q', 0, { manager });
      expect(elsewhere.workerChannel.sent).toEqual([]);
    });

    await worker.events.until('completed');
  });

  it('is not notified of a job whose transaction was rolled back', async () => {
    const { worker, elsewhere, world } = await pair();

    const enqueuing = world.dataSource.transaction(async (manager) => {
      await elsewhere.producer.enqueue('q', 0, { manager });
      throw new Error('rolled back');
    });

    await expect(enqueuing).rejects.toThrow('rolled back');
    await elsewhere.workerChannel.close();
    expect(elsewhere.workerChannel.sent).toEqual([]);
    expect(worker.workerChannel.received).toEqual([]);
  });

  it.each([
    ['enqueued with a delay', async ({ producer }: Engine) => void (await producer.enqueue('q', 0, { delay: 200 }))],
    [
      'enqueued for a time of day',
      async ({ producer }: Engine) => void (await producer.enqueue('q', 0, { runAt: new Date(Date.now() + 200) })),
    ],
    [
      'enqueued in a transaction',
      ({ producer }: Engine, { dataSource }: World) =>
        dataSource.transaction(async (manager) => void (await producer.enqueue('q', 0, { delay: 200, manager }))),
    ],
    [
      'replaced',
      async ({ producer }: Engine) => {
        await producer.enqueue('q', 0, { key: 'k', delay: '1h' });
        await producer.enqueue('q', 0, { key: 'k', delay: 200, onConflict: 'replace' });
      },
    ],
    [
      'retried at a rate',
      async ({ producer, admin }: Engine) => {
        const ids = (await producer.enqueueMany('q', plainJobs(2, { delay: '1h' }))).map(({ id }) => id);
        for (const id of ids) await admin.cancel(id);
        await admin.retry(ids, { rate: '5/s' });
      },
    ],
  ])('runs a job at its due time if another process has it %s', async (_, act) => {
    const { worker, elsewhere, world } = await pair();

    await act(elsewhere, world);
    await worker.events.until('completed');

    expect(worker.workerChannel.received).not.toContain(NO_NOTIFICATION);
  });

  it.each(['snoozes', 'fails for a later retry'])(
    'runs a job at its due time if a claim holder in another process %s it',
    async (what) => {
      const world = await setup();
      const { producer, consumer } = await world.start({ autoStart: false });
      const { id } = await producer.enqueue('q', 0);
      await consumer.claim('q', { owner: 'ann' });
      const worker = await listener(world);

      if (what === 'snoozes') await consumer.snooze(id, { owner: 'ann', until: 200 });
      else await consumer.fail(id, { owner: 'ann', error: 'torn', retry: 200 });

      expect(await worker.events.until('completed')).toMatchObject({ jobId: id });
      expect(worker.workerChannel.received).not.toContain(NO_NOTIFICATION);
    },
  );

  it.each(['claim', 'assignment'])(
    'runs the dead letter of a malformed job that the %s by a person in another process ends',
    async (act) => {
      const world = await setup();
      const { producer, consumer } = await world.start({ autoStart: false, queues: { q: { deadLetter: 'dead' } } });
      const { id } = await producer.enqueue('q', 0);
      await world.sql(`UPDATE sql_queue_jobs SET options = '{"backoff":null}' WHERE id = ${id}`);
      const worker = await listener(world, { handlers: { dead: () => 'done' } });

      if (act === 'claim') await consumer.claim('q', { owner: 'ann' });
      else await expect(consumer.assign(id, 'ann')).rejects.toMatchObject({ code: 'MALFORMED_JOB' });

      await worker.events.until('completed', { queue: 'dead' });
      expect(worker.workerChannel.received).not.toContain(NO_NOTIFICATION);
    },
  );

  it('is notified once of many jobs that are due one after the other', async () => {
    const world = await setup();
    const { producer, workerChannel } = await world.start({ clock: new FakeClock(), autoStart: false });

    for (let count = 0; count < 100; count++) await producer.enqueue('q', 0, { delay: 3_600_000 + count });

    expect(workerChannel.sent).toEqual([['q', 1]]);
  });

  it('runs a job that a worker of another queue has promoted', async () => {
    const { worker, world } = await pair();
    const other = await listener(world, { handlers: { r: () => 'done' } });

    await other.producer.enqueue('q', 0, { delay: 100 });
    await worker.events.until('completed');

    expect(worker.workerChannel.received).not.toContain(NO_NOTIFICATION);
  });

  it('is not notified of jobs in queues that it does not serve', async () => {
    const { worker, elsewhere, producer } = await pair();

    await producer.enqueue('other', 0);
    await elsewhere.workerChannel.close();
    await worker.runner.whenIdle();

    expect(worker.workerChannel.received).toEqual([]);
  });

  it('is notified of jobs in any of its two hundred queues', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `queue-${index}`);
    const { worker, producer } = await pair({
      handlers: Object.fromEntries(names.map((name) => [name, () => 'done'])),
    });

    for (const queue of ['queue-0', 'queue-100', 'queue-199']) {
      await producer.enqueue(queue, 0);
      await worker.events.until('completed', { queue });
    }
  });

  it('notifies other processes only of jobs that exceed its own free slots', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const handlers = { q: () => opened };
    const here = await listener(world, { handlers, queues: { q: { concurrency: 3, prefetch: 0 } } });

    await here.producer.enqueueMany('q', plainJobs(2));
    await here.events.untilCount(2, 'started');
    expect(here.workerChannel.sent).toEqual([]);
    await Promise.all([1, 2].map(() => here.producer.enqueue('q', 0)));
    await here.events.untilCount(3, 'started');

    expect(here.workerChannel.sent).toEqual([['q', 1]]);
    open();
  });

  it('claims the job if another notified worker has no free slot', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const settings = { handlers: { q: () => opened }, queues: { q: { concurrency: 1, prefetch: 0 } } };
    const workers = [await listener(world, settings), await listener(world, settings)];
    const { producer } = await world.start({ autoStart: false });
    const started = () => workers.map(({ events }) => events.of('started').length);

    await producer.enqueue('q', 0);
    await Promise.race(workers.map(({ events }) => events.until('started')));
    await producer.enqueue('q', 0);
    await Promise.all(workers.map(({ events }) => events.until('started')));

    expect(started()).toEqual([1, 1]);
    open();
  });

  it('forwards a notification if its slots were taken after it began to listen', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const full = await listener(world, {
      handlers: { q: () => opened },
      queues: { q: { concurrency: 1, prefetch: 0 } },
    });
    await full.producer.enqueue('q', 0);
    await full.events.until('started');
    const { producer } = await world.start({ autoStart: false });

    await producer.enqueue('q', 0);
    await full.workerChannel.untilReceived(1);
    await full.workerChannel.untilSent();

    expect(full.workerChannel.sent).toEqual([['q', 1]]);
    open();
  });

  it('listens to a queue again as soon as it has a free slot', async () => {
    const { open, opened } = gate();
    const { worker, producer } = await pair({
      handlers: { q: ({ payload }) => (payload === 'held' ? opened : 'done'), r: () => 'done' },
      queues: { q: { concurrency: 1, prefetch: 0 } },
    });
    await producer.enqueue('q', 'held');
    await worker.events.until('started');
    await worker.workerChannel.untilListening('r');

    open();
    await worker.events.until('completed');
    await listening(worker, 'q', 'r');
    await producer.enqueue('q', 'second');

    await worker.events.untilCount(2, 'completed');
  });

  it('claims jobs that a stopping worker releases', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const heir = await listener(world, { handlers: { q: () => 'done' } });
    const { listenCount } = heir.workerChannel;
    heir.runner.pause('q');
    await heir.workerChannel.untilListenCount(listenCount + 1);
    const queues = { q: { concurrency: 1, prefetch: 5 } };
    const leaving = await listener(world, { handlers: { q: () => opened }, queues });
    await leaving.producer.enqueueMany('q', plainJobs(4));
    await leaving.events.until('started');
    heir.runner.resume('q');
    await listening(heir, 'q');

    await leaving.runner.quiet();
    await heir.events.untilCount(3, 'completed');
    open();
  });

  it('ignores a queue that is paused in all processes, and claims from it as soon as it is resumed', async () => {
    const world = await setup();
    const { admin, workerChannel } = await world.start({ autoStart: false });
    await admin.pause('q', { create: true });
    // The notification of the pause may come late, so it is sent before the worker listens.
    await workerChannel.close();
    const worker = await listener(world, { handlers: { q: () => 'done', r: () => 'done' } });
    await worker.workerChannel.untilListening('r');
    const elsewhere = await world.start({ autoStart: false });
    const heard = worker.workerChannel.received.length;
    await elsewhere.producer.enqueue('q', 0);
    await elsewhere.workerChannel.close();
    await worker.runner.whenIdle();

    expect(worker.workerChannel.received.slice(heard)).toEqual([]);
    expect(worker.events.of('completed')).toEqual([]);
    await (await world.start({ autoStart: false })).admin.resume('q');
    await worker.events.until('completed', { queue: 'q' });
  });

  it('claims from a resumed queue even if all its queues were paused', async () => {
    const { worker, elsewhere, producer } = await pair();
    const { listenCount } = worker.workerChannel;
    await elsewhere.admin.pause('q');
    await worker.workerChannel.untilReceived(1);
    await worker.workerChannel.untilListenCount(listenCount + 1);

    await producer.enqueue('q', 0);
    await elsewhere.admin.resume('q');

    await worker.events.until('completed');
  });

  it('claims jobs that an admin retries', async () => {
    const { worker, elsewhere, producer } = await pair();
    const { id } = await producer.enqueue('q', 0, { delay: '1d' });

    await elsewhere.admin.retry(id);

    expect(await worker.events.until('completed')).toMatchObject({ jobId: id });
  });

  it('neither listens nor notifies if notifications are off', async () => {
    const world = await setup();
    const worker = { ...RARE_POLL, notify: false as const };
    const deaf = await world.start({ worker, handlers: { r: () => 'done' } });

    await deaf.producer.enqueue('q', 0);
    await deaf.admin.pause('q');
    await deaf.producer.enqueue('r', 0);
    await deaf.events.until('completed');

    expect(deaf.workerChannel).toMatchObject({ sent: [], listenCount: 0 });
  });
});

// On the servers a claim skips a job while another promoter still holds its lock; the next poll finds it.
describeEngines(
  'a due job',
  (setup) => {
    it('starts at once, whichever worker has promoted it', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const { producer } = await world.start({ clock, autoStart: false });
      const delays = [10, 20, 30, 40, 50, 60];
      for (const delay of delays) await producer.enqueue('q', 0, { delay: delay * 1_000 });
      const workers: Engine[] = [];
      for (const queue of ['r', 'q', 's']) {
        workers.push(await world.start({ clock, worker: RARE_POLL, handlers: { [queue]: () => 'done' } }));
      }

      for (const [index] of delays.entries()) {
        await Promise.all(workers.map(({ runner }) => runner.whenIdle()));
        await clock.advance(10_000);
        await workers[1]!.events.untilCount(index + 1, 'completed');
      }
    });
  },
  ['sqlite'],
);
