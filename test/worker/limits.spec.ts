import { describeEngines, gate, plainJobs, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import type { Engine } from '../support/engine.js';

// Only a notification or the limits themselves make such a worker claim in time.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;
// No window of this length ends while a test runs.
const LONG_WINDOW = { limit: 3, per: '300d', window: 'fixed' } as const;

describeEngines('limits', (setup) => {
  it('hold for the jobs that run at once in several processes, and let all of them run', async () => {
    const world = await setup();
    const { handler, mostAtOnce } = counter();
    const start = () => world.start({ handlers: { q: handler }, queues: { q: { maxRunning: 3 } } });
    const engines = [await start(), await start(), await start()];

    await engines[0]!.producer.enqueueMany('q', plainJobs(30));

    await eventually(async () => (await engines[0]!.admin.counts('q')).completed === 30);
    expect(mostAtOnce()).toBeGreaterThanOrEqual(2);
    expect(mostAtOnce()).toBeLessThanOrEqual(3);
  });

  it('of running jobs let the next job start without a poll', async () => {
    const world = await setup();
    const { handler, mostAtOnce } = counter();
    const { producer, events } = await world.start({
      ...{ worker: HARDLY_EVER, handlers: { q: handler }, queues: { q: { maxRunning: 2 } } },
    });

    await producer.enqueueMany('q', plainJobs(40));

    await events.untilCount(40, 'completed');
    expect(mostAtOnce()).toBe(2);
  });

  it('of a rate let the next job start at its time without a poll', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      ...{ worker: HARDLY_EVER, handlers: { q: () => Date.now() } },
      queues: { q: { rate: { limit: 100, per: '1s', burst: 2 } } },
    });
    const from = Date.now();

    await producer.enqueueMany('q', plainJobs(20));

    const ended = await events.untilCount(20, 'completed');
    const times = ended.map(({ result }) => result as number);
    // 18 jobs after the burst need at least 180 ms by the clock of the database.
    expect(Math.max(...times) - from).toBeGreaterThanOrEqual(175);
  });

  it('are not used by prefetched jobs', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, admin, events } = await world.start({
      ...{
        handlers: { q: () => opened },
        queues: { q: { concurrency: 2, prefetch: 50, rate: { limit: 1_000, per: '1s' } } },
      },
    });

    await producer.enqueueMany('q', plainJobs(20));
    await events.untilCount(2, 'started');
    const counts = await admin.counts('q');
    open();
    await events.untilCount(20, 'completed');

    expect(counts).toMatchObject({ prefetched: 0, waiting: 18, active: 2 });
  });

  it('of the administrator hold in a running worker, and end again', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, admin, events, runner } = await world.start({ handlers: { q: () => opened } });
    await admin.limit('q', { maxRunning: 1 });
    // The worker knows the limit after its next poll.
    await runner.whenIdle();

    await producer.enqueueMany('q', plainJobs(5));
    await events.until('started');
    await untilPolled(world);
    const limited = await admin.counts('q');
    await admin.limit('q', null);
    await events.untilCount(5, 'started');
    open();

    expect(limited).toMatchObject({ active: 1, waiting: 4 });
  });

  it('with a rest start no job until it ends', async () => {
    const world = await setup();
    const { producer, admin, events, runner } = await world.start({ handlers: { q: () => 'done' } });
    await admin.limit('q', { rest: '1h' });
    await runner.whenIdle();

    await producer.enqueueMany('q', plainJobs(3));
    await runner.whenIdle();
    const resting = await admin.counts('q');
    await admin.limit('q', { rest: false });
    await events.untilCount(3, 'completed');

    expect(resting).toMatchObject({ waiting: 3 });
  });

  it('of a handler let the queue rest in all processes, and the job keeps its attempts', async () => {
    const world = await setup();
    const ran: string[] = [];
    const calls = { count: 0 };
    const start = (name: string) =>
      world.start({
        handlers: {
          q: (job) => {
            ran.push(`${name} ${job.id} ${job.attempt}`);
            if (calls.count++ === 0) job.rateLimit('1h');
          },
        },
        queues: { q: { concurrency: 1 } },
      });
    const first = await start('first');
    const ids = (await first.producer.enqueueMany('q', plainJobs(6))).map(({ id }) => id);
    await first.events.until('released');
    const second = await start('second');
    await second.runner.whenIdle();
    await first.runner.whenIdle();
    const resting = await first.admin.counts('q');
    const ranBefore = [...ran];
    world.advance(3_600_000);
    await first.admin.limit('q', { rest: false });
    await eventually(async () => (await first.admin.counts('q')).completed === 6);

    expect(ranBefore).toHaveLength(1);
    expect(resting).toMatchObject({ waiting: 6, active: 0 });
    expect(ran.filter((line) => line.endsWith(` ${ids[0]} 1`))).toHaveLength(2);
  });

  it('of a handler end at the given time without a poll', async () => {
    const world = await setup();
    let isFirst = true;
    const { producer, events } = await world.start({
      worker: HARDLY_EVER,
      handlers: {
        q: (job) => {
          if (!isFirst) return Date.now();
          isFirst = false;
          return job.rateLimit(new Date(Date.now() + 300));
        },
      },
    });
    const enqueuedAt = Date.now();

    await producer.enqueue('q', 0);

    const { result } = await events.until('completed');
    expect((result as number) - enqueuedAt).toBeGreaterThan(250);
  });

  it('leave jobs that a paused process does not start to the other processes', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const limited = { q: { maxRunning: 1 } };
    const first = await world.start({ handlers: { q: () => opened }, queues: limited });
    const { producer } = await world.start({ autoStart: false });
    await producer.enqueueMany('q', plainJobs(2));
    await first.events.until('started');
    const second = await world.start({ worker: HARDLY_EVER, handlers: { q: () => 'second' }, queues: limited });
    await second.workerChannel.untilListening('q');

    first.runner.pause('q');
    open();

    await second.events.until('completed');
  });

  it('of a fixed window are used up in all processes', async () => {
    const world = await setup();
    const start = () => world.start({ handlers: { q: () => 'done' }, queues: { q: { rate: LONG_WINDOW } } });
    const [first, second] = [await start(), await start()];

    await first.producer.enqueueMany('q', plainJobs(10));
    await eventually(async () => (await first.admin.counts('q')).completed === 3);
    for (const { runner } of [first, second]) await runner.whenIdle();

    expect(await first.admin.counts('q')).toMatchObject({ completed: 3, waiting: 7 });
  });

  it('of the options are stored when the worker starts, and the last one logs that it replaced others', async () => {
    const world = await setup();
    const start = (maxRunning: number | false): Promise<Engine> =>
      world.start({ handlers: { q: () => 'done' }, queues: { q: { maxRunning } } });
    const first = await start(3);
    const stored = await first.admin.queues();
    const second = await start(false);

    expect(stored).toMatchObject([{ queue: 'q', maxRunning: 3, rate: null, restsUntil: null }]);
    expect(await second.admin.queues()).toMatchObject([{ queue: 'q', maxRunning: null }]);
    expect(first.log.join()).not.toContain('limits');
    expect(second.log.join()).toContain('Another process had declared other limits for queue "q"');
  });

  it.each([
    [{ maxRunning: 0 }, 'maxRunning'],
    [{ rate: { limit: 0, per: '1s' } }, 'rate.limit'],
    [{ rest: 'soon' }, 'the time to be'],
    [{ concurrency: 5 }, 'unknown option "concurrency"'],
    ['none', 'the limits to be options'],
  ])('of the administrator are rejected if they are invalid: %j', async (change, problem) => {
    const { admin } = await (await setup()).start({ autoStart: false });

    await expect(admin.limit('q', change as never)).rejects.toThrow(problem);
    await expect(admin.limit('', null)).rejects.toThrow('queue name');
    expect(await admin.queues()).toEqual([]);
  });

  it('hold for claims of QueueConsumer', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    await producer.enqueueMany('q', plainJobs(5));
    await admin.limit('q', { maxRunning: 2 });

    const claimed = await consumer.claim('q', { owner: 'ada', limit: 4 });

    expect(claimed).toHaveLength(2);
    expect(await consumer.claim('q', { owner: 'ada', limit: 4 })).toHaveLength(0);
  });
});

/** A handler that counts how many of its calls run at once. */
function counter() {
  let running = 0;
  let most = 0;
  const handler = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
  };
  return { handler, mostAtOnce: () => most };
}

/** Until every worker has polled, and has claimed what the poll found. */
async function untilPolled(world: World): Promise<void> {
  const { runner } = await world.start({ handlers: { other: () => 'done' } });
  await runner.whenIdle();
  await new Promise((resolve) => setTimeout(resolve, 300));
}
