import type { HandlerEntry } from '../../lib/worker/run/handler-table.js';
import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { countClaimed } from '../support/jobs.js';

describeEngines('a queue', (setup) => {
  it('runs jobs by priority, and the oldest first within a priority', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start({
      queues: { q: { concurrency: 1 } },
      handlers: { q: () => undefined },
      autoStart: false,
    });
    const priorities = [5, 0, -3, 0, 5, -3];
    const jobs = await producer.enqueueMany(
      'q',
      priorities.map((priority) => ({ payload: 0, options: { priority } })),
    );

    await runner.start();
    await events.untilCount(6, 'completed');

    expect(events.jobs('started')).toEqual([2, 5, 1, 3, 0, 4].map((index) => jobs[index]!.id));
  });

  // One enqueue at a time, so that the jobs commit in the order of their ids.
  it.each([
    ['concurrency 1', { concurrency: 1 }, { batch: undefined }],
    ['concurrency 10', { concurrency: 10 }, { batch: undefined }],
    ['batches of 7', { concurrency: 2 }, { batch: 7 }],
  ])('starts jobs that arrive during its work in the order of their ids with %s', async (_, options, entry) => {
    const world = await setup();
    const { producer, events } = await world.start({
      queues: { q: options },
      handlers: { q: { handle: () => undefined, ...entry } as HandlerEntry },
    });
    const elsewhere = await world.start({ autoStart: false });

    for (let count = 0; count < 400; count += 2) {
      await producer.enqueue('q', 0);
      await elsewhere.producer.enqueue('q', 0);
    }
    await events.untilCount(400, 'completed');

    const started = events.jobs('started');
    expect(started).toEqual([...started].sort((a, b) => a - b));
  });

  it('runs the youngest job first within a priority if its order is lifo', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start({
      queues: { q: { concurrency: 1, order: 'lifo', prefetch: 0 } },
      handlers: { q: () => undefined },
      autoStart: false,
    });
    const priorities = [5, 0, -3, 0, 5, -3];
    const jobs = await producer.enqueueMany(
      'q',
      priorities.map((priority) => ({ payload: 0, options: { priority } })),
    );

    await runner.start();
    await events.untilCount(6, 'completed');

    expect(events.jobs('started')).toEqual([5, 2, 3, 1, 4, 0].map((index) => jobs[index]!.id));
  });

  it('runs as many jobs at once as its concurrency and the concurrency of the process allow', async () => {
    const world = await setup();
    const { open, opened } = gate();
    let running = 0;
    let most = 0;
    const handler = async () => {
      most = Math.max(most, ++running);
      await opened;
      running--;
    };
    const { producer, events, runner } = await world.start({
      queues: { a: { concurrency: 3 }, b: { concurrency: 3 } },
      worker: { concurrency: 4 },
      handlers: { a: handler, b: handler },
    });

    for (const queue of ['a', 'b']) await producer.enqueueMany(queue, plainJobs(6));
    await eventually(() => running === 4);
    open();
    await events.untilCount(12, 'completed');
    await runner.whenIdle();

    expect(most).toBe(4);
  });

  it('leaves further jobs to other workers when its slots are full, unless it prefetches', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, events, admin } = await world.start({
      queues: { alone: { concurrency: 1, prefetch: 0 }, ahead: { concurrency: 1, prefetch: 3 } },
      handlers: { alone: () => opened, ahead: () => opened },
    });

    for (const queue of ['alone', 'ahead']) await producer.enqueueMany(queue, plainJobs(6));
    await events.untilCount(2, 'started');

    expect(await admin.counts('alone')).toMatchObject({ active: 1, waiting: 5 });
    const ahead = await admin.counts('ahead');
    expect([countClaimed(ahead), ahead.waiting]).toEqual([4, 2]);
    expect(ahead.prefetched).toBeGreaterThan(0);
    open();
    await events.untilCount(12, 'completed');
  });
});

describeEngines('a delayed job', (setup) => {
  it.each(['delay', 'runAt'])('runs at its due time and not before (%s)', async (how) => {
    const world = await setup();
    const beganAt: number[] = [];
    const { producer, events, admin, runner } = await world.start({
      handlers: { q: async () => void beganAt.push(await world.now()) },
    });
    const runAt = new Date((await world.now()) + 3_600_000);

    const { id } = await producer.enqueue('q', 0, how === 'delay' ? { delay: '1h' } : { runAt });
    const due = (await admin.get(id))!.runAt!.getTime();
    world.advance(3_600_000 - 20_000);
    await runner.whenIdle();
    const early = events.of('started').length;
    world.advance(20_000);
    await events.until('completed');

    if (how === 'runAt') expect(due).toBe(runAt.getTime());
    expect(early).toBe(0);
    expect(beganAt[0]).toBeGreaterThanOrEqual(due);
  });
});
