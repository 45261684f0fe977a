import type { Engine } from '../support/engine.js';
import { describeEngines, gate, plain, type World } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { processesOf } from '../support/processes.js';

// Whatever happens within a test has not been found by a poll.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;

// Nor by the look with which a worker begins to listen anew, after 20 s.
const ITSELF = 'nothing';

type Settings = Parameters<World['start']>[0];

describeEngines('a worker that hardly ever polls', (setup) => {
  /** A worker that has found nothing to do and listens, and a process that only produces. */
  async function pair(settings: Settings = {}) {
    const world = await setup();
    const worker = await listener(world, settings);
    const elsewhere = await world.start({ autoStart: false });
    return { world, worker, elsewhere, producer: elsewhere.producer };
  }

  async function listener(world: World, settings: Settings = {}): Promise<Engine> {
    const worker = await world.start({ worker: HARDLY_EVER, handlers: { q: () => 'done' }, ...settings });
    await listening(worker);
    return worker;
  }

  /** From here on it would find nothing by itself. */
  async function listening({ doorbell, runner }: Engine, ...queues: string[]): Promise<void> {
    await doorbell.untilListening(...queues);
    await runner.whenIdle();
    await doorbell.untilListening(...queues);
  }

  it('begins each job that another engine enqueues', async () => {
    const { worker, producer } = await pair();

    for (let count = 1; count <= 30; count++) {
      await producer.enqueue('q', 0);
      await worker.events.untilCount(count, 'completed');
    }

    expect(worker.log).toEqual([]);
  });

  it('begins each job that another process enqueues', async () => {
    const world = await setup();
    const { producer } = await world.start({ autoStart: false });
    const process = await (await processesOf(world)).worker({ worker: HARDLY_EVER, tell: ['completed'] });

    for (let count = 1; count <= 30; count++) {
      await producer.enqueue('q', {});
      await process.events.untilCount(count, 'completed');
    }
  });

  it.each(['gives back', 'has failed with, to be tried at once'])(
    'begins a job that a person in another engine %s',
    async (what) => {
      const world = await setup();
      const { producer, consumer } = await world.start({ autoStart: false });
      const { id } = await producer.enqueue('q', 0);
      await consumer.claim('q', { owner: 'ann' });
      const worker = await listener(world);

      if (what === 'gives back') await consumer.release(id, { owner: 'ann' });
      else await consumer.fail(id, { owner: 'ann', error: 'torn', retry: 0 });
      await worker.events.until('completed');

      expect(worker.events.jobs('completed')).toEqual([id]);
    },
  );

  it('hears of a job when its transaction has committed, and not before', async () => {
    const { worker, elsewhere, world } = await pair();

    await world.dataSource.transaction(async (manager) => {
      await elsewhere.producer.enqueue('q', 0, { manager });
      expect(elsewhere.doorbell.rings).toEqual([]);
    });

    await worker.events.until('completed');
  });

  it('hears nothing of a job whose transaction was rolled back', async () => {
    const { worker, elsewhere, world } = await pair();

    const enqueuing = world.dataSource.transaction(async (manager) => {
      await elsewhere.producer.enqueue('q', 0, { manager });
      throw new Error('rolled back');
    });

    await expect(enqueuing).rejects.toThrow('rolled back');
    await elsewhere.doorbell.close();
    expect(elsewhere.doorbell.rings).toEqual([]);
    expect(worker.doorbell.heard).toEqual([]);
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
        const ids = (await producer.enqueueMany('q', plain(2, { delay: '1h' }))).map(({ id }) => id);
        for (const id of ids) await admin.cancel(id);
        await admin.retry(ids, { rate: '5/s' });
      },
    ],
  ])('begins a job that another process has %s when it is due', async (_, act) => {
    const { worker, elsewhere, world } = await pair();

    await act(elsewhere, world);
    await worker.events.until('completed');

    expect(worker.doorbell.heard).not.toContain(ITSELF);
  });

  it.each(['puts off', 'has failed with, to be tried later'])(
    'begins a job that a person in another process %s when it is due',
    async (what) => {
      const world = await setup();
      const { producer, consumer } = await world.start({ autoStart: false });
      const { id } = await producer.enqueue('q', 0);
      await consumer.claim('q', { owner: 'ann' });
      const worker = await listener(world);

      if (what === 'puts off') await consumer.snooze(id, { owner: 'ann', until: 200 });
      else await consumer.fail(id, { owner: 'ann', error: 'torn', retry: 200 });

      expect(await worker.events.until('completed')).toMatchObject({ jobId: id });
      expect(worker.doorbell.heard).not.toContain(ITSELF);
    },
  );

  it('is notified once of many jobs that are due one after the other', async () => {
    const world = await setup();
    const { producer, doorbell } = await world.start({ clock: new FakeClock(), autoStart: false });

    for (let count = 0; count < 100; count++) await producer.enqueue('q', 0, { delay: 3_600_000 + count });

    expect(doorbell.rings).toEqual([['q', 1]]);
  });

  it('begins a job that a worker of another queue has promoted', async () => {
    const { worker, world } = await pair();
    const other = await listener(world, { handlers: { r: () => 'done' } });

    await other.producer.enqueue('q', 0, { delay: 100 });
    await worker.events.until('completed');

    expect(worker.doorbell.heard).not.toContain(ITSELF);
  });

  it('is not woken for queues that it does not work', async () => {
    const { worker, elsewhere, producer } = await pair();

    await producer.enqueue('other', 0);
    await elsewhere.doorbell.close();
    await worker.runner.whenIdle();

    expect(worker.doorbell.heard).toEqual([]);
  });

  it('is woken for any of two hundred queues', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `queue-${index}`);
    const { worker, producer } = await pair({
      handlers: Object.fromEntries(names.map((name) => [name, () => 'done'])),
    });

    for (const queue of ['queue-0', 'queue-100', 'queue-199']) {
      await producer.enqueue(queue, 0);
      await worker.events.until('completed', { queue });
    }
  });

  it('is not told by its own process of jobs that it has slots for, and others are of the rest', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const handlers = { q: () => opened };
    const here = await listener(world, { handlers, queues: { q: { concurrency: 3, prefetch: 0 } } });

    await here.producer.enqueueMany('q', plain(2));
    await here.events.untilCount(2, 'started');
    expect(here.doorbell.rings).toEqual([]);
    await Promise.all([1, 2].map(() => here.producer.enqueue('q', 0)));
    await here.events.untilCount(3, 'started');

    expect(here.doorbell.rings).toEqual([['q', 1]]);
    open();
  });

  it('takes the job when another one has no room', async () => {
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

  it('passes on what it has no room for, though it had when it began to listen', async () => {
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
    await full.doorbell.untilHeard(1);
    await full.doorbell.untilRung();

    expect(full.doorbell.rings).toEqual([['q', 1]]);
    open();
  });

  it('listens again as soon as it has room again', async () => {
    const { open, opened } = gate();
    const { worker, producer } = await pair({
      handlers: { q: ({ payload }) => (payload === 'held' ? opened : 'done'), r: () => 'done' },
      queues: { q: { concurrency: 1, prefetch: 0 } },
    });
    await producer.enqueue('q', 'held');
    await worker.events.until('started');
    await worker.doorbell.untilListening('r');

    open();
    await worker.events.until('completed');
    await listening(worker, 'q', 'r');
    await producer.enqueue('q', 'second');

    await worker.events.untilCount(2, 'completed');
  });

  it('takes what a worker gives back that stops', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const heir = await listener(world, { handlers: { q: () => 'done' } });
    heir.runner.pause('q');
    await heir.doorbell.untilTimes(2);
    const queues = { q: { concurrency: 1, prefetch: 5 } };
    const leaving = await listener(world, { handlers: { q: () => opened }, queues });
    await leaving.producer.enqueueMany('q', plain(4));
    await leaving.events.until('started');
    heir.runner.resume('q');
    await listening(heir, 'q');

    await leaving.runner.quiet();
    await heir.events.untilCount(3, 'completed');
    open();
  });

  it('leaves a queue alone that is paused everywhere, and works it at once when it is resumed', async () => {
    const { worker, elsewhere, producer } = await pair({ handlers: { q: () => 'done', r: () => 'done' } });

    await elsewhere.admin.pause('q');
    await worker.doorbell.untilListening('r');
    const heard = worker.doorbell.heard.length;
    await producer.enqueue('q', 0);
    await producer.enqueue('r', 0);
    await worker.events.until('completed', { queue: 'r' });
    await listening(worker, 'r');

    expect(worker.doorbell.heard.slice(heard)).toHaveLength(1);
    expect(worker.events.of('completed', { queue: 'q' })).toEqual([]);
    await elsewhere.admin.resume('q');
    await worker.events.until('completed', { queue: 'q' });
  });

  it('works a queue that is resumed where all its queues were paused', async () => {
    const { worker, elsewhere, producer } = await pair();
    await elsewhere.admin.pause('q');
    await worker.doorbell.untilHeard(1);
    await worker.doorbell.untilTimes(2);

    await producer.enqueue('q', 0);
    await elsewhere.admin.resume('q');

    await worker.events.until('completed');
  });

  it('takes jobs that somebody retries', async () => {
    const { worker, elsewhere, producer } = await pair();
    const { id } = await producer.enqueue('q', 0, { delay: '1d' });

    await elsewhere.admin.retry(id);

    expect(await worker.events.until('completed')).toMatchObject({ jobId: id });
  });

  it('neither listens nor rings where the doorbell is off', async () => {
    const world = await setup();
    const worker = { ...HARDLY_EVER, doorbell: false as const };
    const deaf = await world.start({ worker, handlers: { r: () => 'done' } });

    await deaf.producer.enqueue('q', 0);
    await deaf.admin.pause('q');
    await deaf.producer.enqueue('r', 0);
    await deaf.events.until('completed');

    expect(deaf.doorbell).toMatchObject({ rings: [], times: 0 });
  });
});

// On the servers a claim passes over a job on which another promoter has its lock a moment longer: the next poll finds it.
describeEngines(
  'a job that has become due',
  (setup) => {
    it('begins at once, whoever has promoted it', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const { producer } = await world.start({ clock, autoStart: false });
      const delays = [10, 20, 30, 40, 50, 60];
      for (const delay of delays) await producer.enqueue('q', 0, { delay: delay * 1_000 });
      const workers: Engine[] = [];
      for (const queue of ['r', 'q', 's']) {
        workers.push(await world.start({ clock, worker: HARDLY_EVER, handlers: { [queue]: () => 'done' } }));
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
