import { InvalidOptionsError, UnknownQueueError } from '../../lib/job/errors.js';
import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { interceptingDriver } from '../support/intercepting-driver.js';

// The tests do not depend on a poll.
const HARDLY_EVER = { poll: { min: '1h', max: '1h' } } as const;

describeEngines('a handler registered at run time', (setup, server) => {
  const stored = async (sql: (text: string) => Promise<{ queues: string }[]>) =>
    (await sql('SELECT queues FROM sql_queue_workers')).flatMap(({ queues }) =>
      Object.keys(JSON.parse(queues) as object),
    );

  it('runs jobs in a process without other handlers, before and after its start', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start({ autoStart: false });
    await producer.enqueue('early', 0);
    await producer.enqueue('late', 0);

    await runner.handle('early', {}, () => 'done');
    expect(runner.state).toBe('stopped');
    await runner.start();
    await events.until('completed', { queue: 'early' });
    await runner.handle('late', {}, () => 'done');
    await events.until('completed', { queue: 'late' });

    expect(runner.queues).toEqual(['early', 'late']);
    expect(await stored((text) => world.sql(text))).toEqual(['early', 'late']);
  });

  it('starts the work of a process that started without handlers', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start();
    await producer.enqueue('q', 0);

    await runner.handle('q', {}, () => 'done');
    await events.until('completed');

    expect(runner.state).toBe('running');
  });

  it('is notified by other processes', async () => {
    const world = await setup();
    const { events, runner, workerChannel } = await world.start({
      worker: HARDLY_EVER,
      handlers: { other: () => 'done' },
    });
    const { producer } = await world.start({ autoStart: false });

    await runner.handle('q', {}, () => 'done');
    await workerChannel.untilListening('other', 'q');
    await runner.whenIdle();
    await workerChannel.untilListening('other', 'q');
    await producer.enqueue('q', 0);

    await events.until('completed', { queue: 'q' });

    expect(workerChannel.received.at(-1)).not.toBe('none');
  });

  it('receives batches and published messages, as a decorated handler does', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start({ handlers: { other: () => 'done' } });
    const sizes: number[] = [];

    await runner.handle(
      'copies',
      { batch: 10, topic: 'user.*', concurrency: 1 },
      (jobs) => void sizes.push(jobs.length),
    );
    await producer.publish('user.created', { id: 1 });
    await events.until('completed', { queue: 'copies' });

    expect(sizes).toEqual([1]);
  });

  it('ends when its running jobs have ended, and releases its prefetched jobs', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, events, runner, admin } = await world.start({ handlers: { other: () => 'done' } });
    const end = await runner.handle('q', { concurrency: 1, prefetch: 3 }, () => opened);
    await producer.enqueueMany('q', plainJobs(4));
    await events.until('started');
    let hasEnded = false;

    const ended = Promise.all([end(), end()]).then(() => (hasEnded = true));
    const counts = await eventually(async () => {
      const { active, waiting } = await admin.counts('q');
      return active === 1 && { active, waiting };
    });
    const hadEnded = hasEnded;
    open();
    await ended;

    expect([counts, hadEnded]).toEqual([{ active: 1, waiting: 3 }, false]);
    expect(await admin.counts('q')).toMatchObject({ active: 0, waiting: 3, completed: 1 });
    expect(await stored((text) => world.sql(text))).toEqual(['other']);
    expect(runner.queues).toEqual(['other']);
    await runner.handle('q', {}, () => 'done');
    await events.untilCount(4, 'completed');
  });

  it('ends with its process, even while it is being ended', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const { producer, events, runner } = await world.start();
    const end = await runner.handle('q', {}, () => opened);
    await producer.enqueue('q', 0);
    await events.until('started');

    const ended = end();
    await runner.stop({ timeout: 0 });
    await ended;
    open();

    expect([runner.state, runner.queues]).toEqual(['stopped', []]);
  });

  it('is rejected for a queue with a handler, and for options that a decorator rejects', async () => {
    const world = await setup();
    const { runner } = await world.start({ handlers: { other: () => 'done' } });
    const end = await runner.handle('q', {}, () => 'done');

    for (const queue of ['q', 'other']) {
      await expect(runner.handle(queue, {}, () => 'done')).rejects.toThrow(InvalidOptionsError);
    }
    await expect(runner.handle('no name!', { concurrency: 0 }, 'nothing' as never)).rejects.toMatchObject({
      problems: [
        expect.stringContaining('queue name'),
        expect.stringContaining('concurrency'),
        expect.stringContaining('handler'),
      ],
    });
    await end();
    await end();

    expect(runner.queues).toEqual(['other']);
  });

  it('is not called if the database fails while it is added, and another one can take its place', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start({ handlers: { other: () => 'done' } });
    await producer.enqueue('q', 0);
    const rename = (from: string, to: string) => world.sql(`ALTER TABLE sql_queue_${from} RENAME TO sql_queue_${to}`);

    await rename('limits', 'renamed');
    const rejected = await runner.handle('q', { maxRunning: 5 }, () => 'first').catch((error: unknown) => error);
    await rename('renamed', 'limits');
    await producer.enqueue('other', 0);
    await events.until('completed', { queue: 'other' });
    await runner.whenIdle();
    const early = events.all.filter(({ queue }) => queue === 'q');
    const queues = [runner.queues, await stored((text) => world.sql(text))];
    await runner.handle('q', {}, () => 'second');

    expect(rejected).toBeInstanceOf(Error);
    expect([early, queues]).toEqual([[], [['other'], ['other']]]);
    expect(await events.until('completed', { queue: 'q' })).toMatchObject({ result: 'second' });
  });

  it('starts no job of a paused queue before the queue is resumed', async () => {
    const world = await setup();
    const { producer, events, runner, admin } = await world.start({ handlers: { other: () => 'done' } });
    await producer.enqueue('here', 0);
    await producer.enqueue('everywhere', 0);
    await admin.pause('everywhere');

    for (const queue of ['here', 'everywhere']) {
      await runner.handle(queue, { paused: queue === 'here' }, () => 'done');
    }
    await runner.whenIdle();
    const before = events.of('started').length;
    runner.resume('here');
    await events.until('completed', { queue: 'here' });
    await admin.resume('everywhere');
    await events.until('completed', { queue: 'everywhere' });

    expect(before).toBe(0);
  });

  it('has its leases renewed in time even if they are shorter than those of other queues', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start({ handlers: { other: () => 'done' } });
    const leaseEnd = async () =>
      Number((await world.sql<{ until: number }>('SELECT lease_until AS until FROM sql_queue_claims'))[0]?.until ?? 0);
    const seen = new Set<number>();

    await runner.handle('q', { lease: '3s' }, () => eventually(async () => seen.add(await leaseEnd()).size > 4));
    await producer.enqueue('q', 0);
    await events.until('completed');

    expect(events.of('lost')).toEqual([]);
  });

  if (server.name !== 'sqlite') {
    it('can have its jobs claimed by lock', async () => {
      const world = await setup();
      const { producer, events, runner } = await world.start({ handlers: { other: () => 'done' } });

      const end = await runner.handle('q', { claim: 'lock' }, () => 'done');
      await producer.enqueue('q', 0);
      await events.until('completed');
      await end();
    });
  }
});

// SQLite has one connection, so no poll is under way while a handler is added.
describeEngines(
  'a handler registered during a poll',
  (setup) => {
    it('starts no job of a paused queue after a poll that began before the handler was added', async () => {
      const world = await setup();
      const reached = gate();
      const added = gate();
      let mayHold = false;
      const driver = interceptingDriver(async (sql) => {
        if (!mayHold || !sql.includes('FROM sql_queue_queues q')) return;
        mayHold = false;
        reached.open();
        await added.opened;
      });
      const { producer, events, runner, admin } = await world.start({
        dataSource: await world.connect({ driver }),
        handlers: { other: () => 'done' },
      });
      await producer.enqueue('late', 0);
      await admin.pause('late');

      mayHold = true;
      await reached.opened;
      await runner.handle('late', {}, () => 'done');
      added.open();
      await runner.whenIdle();

      // A claimed job would be started or released.
      expect(events.all).toEqual([]);
    });

    it('starts no job before its limits are declared, also if another queue is resumed meanwhile', async () => {
      const world = await setup();
      const reached = gate();
      const declared = gate();
      const driver = interceptingDriver(async (sql) => {
        if (!sql.includes('SELECT queue, declared')) return;
        reached.open();
        await declared.opened;
      });
      const { producer, events, runner } = await world.start({
        dataSource: await world.connect({ driver }),
        handlers: { other: () => 'done' },
      });
      await producer.enqueue('late', 0);

      const added = runner.handle('late', { maxRunning: 1 }, () => 'done');
      await reached.opened;
      runner.pause('other');
      runner.resume('other');
      await runner.whenIdle();
      const early = [...events.all];
      declared.open();
      await added;
      await events.until('completed', { queue: 'late' });

      expect(early).toEqual([]);
    });

    it.each(['before', 'after'] as const)(
      'keeps its limits if a poll has read the queue before they were declared, and answers %s that',
      async (answers) => {
        const world = await setup();
        const [reached, declared, read, answered] = [gate(), gate(), gate(), gate()];
        const driver = interceptingDriver(async (sql) => {
          if (!sql.includes('SELECT queue, declared')) return;
          reached.open();
          await declared.opened;
        });
        const { producer, events, runner, opened } = await world.start({
          dataSource: await world.connect({ driver }),
          handlers: { other: () => 'done' },
          worker: HARDLY_EVER,
        });
        await runner.whenIdle();
        await producer.enqueueMany('late', plainJobs(10));
        const { jobs } = opened.stores;
        const { summarizeWork } = jobs;
        let [running, most] = [0, 0];
        const handler = async () => {
          most = Math.max(most, ++running);
          await new Promise(setImmediate);
          running--;
        };

        const added = runner.handle('late', { maxRunning: 1, concurrency: 10 }, handler);
        await reached.opened;
        vi.spyOn(jobs, 'summarizeWork').mockImplementationOnce(async (...given) => {
          const summary = await summarizeWork.call(jobs, ...given);
          read.open();
          if (answers === 'after') await answered.opened;
          return summary;
        });
        const polled = runner.whenIdle();
        await read.opened;
        if (answers === 'before') await polled;
        declared.open();
        await added;
        answered.open();
        await events.untilCount(10, 'completed', { queue: 'late' });

        expect(most).toBe(1);
      },
    );

    it('claims no job of a paused queue that is woken before its state is known', async () => {
      const world = await setup();
      const reached = gate();
      const woken = gate();
      const driver = interceptingDriver(async (sql) => {
        if (!sql.includes('FROM sql_queue_queues q') || !sql.includes("'late'") || sql.includes("'other'")) return;
        reached.open();
        await woken.opened;
      });
      const { producer, events, runner } = await world.start({
        dataSource: await world.connect({ driver }),
        handlers: { other: () => 'done' },
      });
      await producer.enqueue('late', 0);

      const added = runner.handle('late', { paused: true }, () => 'done');
      await reached.opened;
      runner.setConcurrency('late', 5);
      await producer.enqueue('other', 0);
      await events.until('completed', { queue: 'other' });
      woken.open();
      await added;
      await runner.whenIdle();

      // A claimed job would be started or released.
      expect(events.all.filter(({ queue }) => queue === 'late')).toEqual([]);
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines('the concurrency of a queue', (setup) => {
  it('can be raised and lowered while the worker runs', async () => {
    const world = await setup();
    let gates: ReturnType<typeof gate<void>>[] = [];
    const { producer, events, runner } = await world.start({
      queues: { q: { concurrency: 1, prefetch: 0 } },
      handlers: {
        q: () => {
          const each = gate();
          gates.push(each);
          return each.opened;
        },
      },
    });
    await producer.enqueueMany('q', plainJobs(10));
    await events.until('started');

    runner.setConcurrency('q', 4);
    await events.untilCount(4, 'started');
    runner.setConcurrency('q', 1);
    const running = gates;
    gates = [];
    running.forEach(({ open }) => open());
    await events.untilCount(5, 'started');
    await events.untilCount(4, 'completed');
    await eventually(() => gates.length === 1);

    expect(events.of('started')).toHaveLength(5);
    while (events.of('completed').length < 10) {
      gates.splice(0).forEach(({ open }) => open());
      await eventually(() => gates.length > 0 || events.of('completed').length === 10);
    }
  });

  it('is rejected if it is invalid, or if this process does not serve the queue', async () => {
    const world = await setup();
    const { runner } = await world.start({ handlers: { q: () => 'done' } });

    expect(() => runner.setConcurrency('q', 0)).toThrow(InvalidOptionsError);
    expect(() => runner.setConcurrency('other', 1)).toThrow(UnknownQueueError);
  });
});
