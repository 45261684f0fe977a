import { QUEUE_EVENTS } from '../../lib/job/queue-event.js';
import { behindProxy } from '../support/behind-proxy.js';
import { describeEngines, plainJobs } from '../support/engines.js';
import type { EventLog } from '../support/event-log.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { processesOf } from '../support/processes.js';

const queues = { q: { events: true } } as const;

describeEngines('a process that listens to the events of all processes', (setup) => {
  it('receives the events of other processes and its own once each, in order', async () => {
    const { start } = await setup();
    const worker = await start({
      queues,
      handlers: {
        q: ({ attempt, payload }) => {
          if (attempt < (payload as number)) throw new RangeError('not yet');
          return { payload };
        },
      },
    });
    const listener = await start({ queues, autoStart: false });
    const heard = await listener.listenAnywhere();

    const theirs = await worker.producer.enqueue('q', 1);
    const ours = await listener.producer.enqueue('q', 2, { name: 'n', delay: '10ms' });
    await heard.untilCount(2, 'completed');

    expect(about(heard, theirs.id)).toEqual(['enqueued 0', 'claimed 1', 'completed 1']);
    expect(about(heard, ours.id)).toEqual([
      ...['enqueued 0', 'promoted 0', 'claimed 1', 'failed 1', 'claimed 2', 'completed 2'],
    ]);
    const [failed] = heard.of('failed');
    const local = worker.events.of('failed')[0]!;
    expect(failed).toEqual({ ...local, ranMs: Math.round(local.ranMs!), at: expect.any(Date) as Date });
    expect(heard.of('completed', { jobId: ours.id })[0]).toMatchObject({
      result: { payload: 2 },
      name: 'n',
      queue: 'q',
    });
  });

  it('receives no events of a queue that does not store them', async () => {
    const { start } = await setup();
    const worker = await start({ queues, handlers: { q: () => 0, other: () => 0 } });
    const heard = await worker.listenAnywhere();

    await worker.producer.enqueue('other', 0);
    await worker.events.until('completed');
    await worker.producer.enqueue('q', 0);
    await heard.until('completed');

    expect(new Set(heard.all.map(({ queue }) => queue))).toEqual(new Set(['q']));
  });

  it('receives only events after it began to listen', async () => {
    const { start } = await setup();
    const { producer, listenAnywhere } = await start({ queues, autoStart: false });
    await producer.enqueue('q', 0);

    const heard = await listenAnywhere();
    const { id } = await producer.enqueue('q', 0);
    await heard.until('enqueued');

    expect(heard.jobs('enqueued')).toEqual([id]);
  });

  it('is notified when another process stores an event', async () => {
    const { start } = await setup();
    const listener = await start({ queues, autoStart: false, clock: new FakeClock() });
    const heard = await listener.listenAnywhere();
    await listener.eventChannel.untilListening();

    const { id } = await (await start({ queues, autoStart: false })).producer.enqueue('q', 0);

    // Its clock stands still, so it never polls.
    expect(await heard.until('enqueued')).toMatchObject({ jobId: id });
  });

  it('finds events by polling within a second if notifications are off', async () => {
    const { start } = await setup();
    const clock = new FakeClock();
    const worker = { notify: false } as const;
    const listener = await start({ queues, worker, autoStart: false, clock });
    const heard = await listener.listenAnywhere();
    await clock.untilSleeping(1_000);

    const { id } = await (await start({ queues, worker, autoStart: false })).producer.enqueue('q', 0);
    await clock.advance(1_000);

    expect(await heard.until('enqueued')).toMatchObject({ jobId: id });
  });

  it('receives the events of many jobs once each, for any number of processes', async () => {
    const { start } = await setup();
    const workers = [];
    for (let n = 0; n < 3; n++) workers.push(await start({ queues, handlers: { q: () => null } }));
    const listeners = await Promise.all(workers.map((worker) => worker.listenAnywhere()));
    const count = 200;

    const jobs = await Promise.all(
      workers.map(({ producer }) => Promise.all(plainJobs(count).map(({ payload }) => producer.enqueue('q', payload)))),
    );

    const ids = jobs.flat().map(({ id }) => id);
    for (const heard of listeners) {
      for (const event of ['enqueued', 'claimed', 'completed'] as const) {
        await heard.untilCount(ids.length, event);
        expect(sorted(heard.jobs(event))).toEqual(sorted(ids));
      }
    }
  });
});

describeEngines(
  'a process that listens to the events of all processes, through a server,',
  (setup) => {
    it('receives events that commit after younger ones, and none that are rolled back', async () => {
      const { start, dataSource } = await setup();
      const { producer, listenAnywhere } = await start({ queues, autoStart: false });
      const heard = await listenAnywhere();
      const late: number[] = [];
      const undone = dataSource.createQueryRunner();
      await undone.startTransaction();
      await producer.enqueue('q', 'undone', { manager: undone.manager });

      await dataSource.transaction(async (manager) => {
        late.push((await producer.enqueue('q', 'late', { manager })).id);
        const { id } = await producer.enqueue('q', 'soon');
        await heard.until('enqueued', { jobId: id });
        expect(heard.of('enqueued', { jobId: late[0]! })).toEqual([]);
      });
      await undone.rollbackTransaction();
      await undone.release();
      await heard.until('enqueued', { jobId: late[0]! });
      await producer.enqueue('q', 'last');
      await heard.untilCount(3, 'enqueued');

      expect(heard.all).toHaveLength(3);
    });

    it('receives events that were not committed when it began to listen, and none that were', async () => {
      const { start, dataSource } = await setup();
      const { producer, listenAnywhere } = await start({ queues, autoStart: false });
      await producer.enqueue('q', 'before');

      const { heard, id } = await dataSource.transaction(async (manager) => {
        const late = await producer.enqueue('q', 'late', { manager });
        await producer.enqueue('q', 'before');
        return { heard: await listenAnywhere(), id: late.id };
      });
      await heard.until('enqueued', { jobId: id });
      const last = await producer.enqueue('q', 'last');
      await heard.until('enqueued', { jobId: last.id });

      expect(heard.jobs('enqueued')).toEqual([id, last.id]);
    });

    it('receives events it missed during an outage of its connection', async () => {
      const { world, proxy, dataSource } = await behindProxy(await setup());
      const listener = await world.start({ queues, dataSource, autoStart: false });
      const heard = await listener.listenAnywhere();
      const { producer } = await world.start({ queues, autoStart: false });
      const first = await producer.enqueue('q', 0);
      await heard.until('enqueued', { jobId: first.id });

      proxy.onStatement(() => 'cut');
      const missed = await producer.enqueue('q', 0);
      await eventually(() => listener.log.some((line) => line.startsWith('warn: Cannot read job events')));
      proxy.onStatement(() => 'pass');
      await heard.until('enqueued', { jobId: missed.id });

      expect(heard.jobs('enqueued')).toEqual([first.id, missed.id]);
    });

    it('receives the events of the jobs of a killed process', async () => {
      const world = await setup();
      const processes = await processesOf(world);
      const worker = await processes.worker({ queue: { events: true } });
      const survivor = await world.start({ queues, handlers: { q: () => null }, autoStart: false });
      const heard = await survivor.listenAnywhere();
      const { id } = await survivor.producer.enqueue('q', { hold: true });
      await worker.untilMessage('holding', id);

      await worker.kill();
      world.advance(60_000);
      await survivor.runner.start();
      await heard.until('completed');

      expect(about(heard, id)).toEqual(['enqueued 0', 'claimed 1', 'rescued 1', 'claimed 2', 'completed 2']);
      expect(heard.of('rescued')[0]).toMatchObject({ error: { code: 'WORKER_LOST' }, delayMs: 0 });
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines('a process', (setup) => {
  it('emits the events of its own enqueues, claims and promotions to its listeners', async () => {
    const { start } = await setup();
    const { producer, events, consumer, bus } = await start({ handlers: { q: () => null } });
    const heard: string[] = [];
    for (const name of QUEUE_EVENTS)
      bus.on(name, undefined, ({ event, jobId }) => void heard.push(`${event} ${jobId}`));

    const { id } = await producer.enqueue('q', 0, { delay: '10ms' });
    await events.until('completed');
    const task = await producer.enqueue('people', 0);
    await consumer.assign(task.id, 'ann');
    await consumer.assign(task.id, 'ben');
    await consumer.release(task.id, { owner: 'ben' });
    await consumer.claim('people', { owner: 'ann' });

    expect(heard).toEqual([
      ...[`enqueued ${id}`, `promoted ${id}`, `claimed ${id}`, `started ${id}`, `completed ${id}`],
      ...[`enqueued ${task.id}`, `claimed ${task.id}`, `released ${task.id}`, `claimed ${task.id}`],
    ]);
  });
});

function about(heard: EventLog, jobId: number): string[] {
  return heard.all.filter((event) => event.jobId === jobId).map(({ event, attempt }) => `${event} ${attempt}`);
}

function sorted(ids: readonly number[]): number[] {
  return [...ids].sort((a, b) => a - b);
}
