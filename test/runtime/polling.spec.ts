import { describeEngines, gate, plain } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { recordingDriver } from '../support/recording-driver.js';

// The random number of these engines is 0.5, and a rest is up to a fifth longer.
const JITTERED = 1.1;

describeEngines('a worker without work', (setup) => {
  it('looks less and less often, down to its slowest pace, and quickly again after a wake-up', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { runner, producer, events } = await world.start({
      clock,
      worker: { poll: { min: '100ms', max: '1s' } },
      handlers: { q: () => 'done' },
    });
    const pace = [200, 400, 800, 1_000, 1_000].map((ms) => ms * JITTERED);

    for (const rest of pace) {
      await clock.resting(rest);
      await clock.advance(rest);
    }
    await clock.resting(pace.at(-1)!);
    await producer.enqueue('q', 0);
    await events.until('completed');
    await runner.whenIdle();
    await clock.resting(pace[0]!);

    expect(clock.rests.filter((ms) => pace.includes(ms)).slice(0, 5)).toEqual(pace);
  });

  it('sleeps no longer than until the next job is due', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer, events, runner } = await world.start({
      clock,
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: { q: () => 'done' },
    });
    await clock.resting(3_600_000 * JITTERED);

    await producer.enqueue('q', 0, { delay: '10s' });
    await runner.whenIdle();
    await clock.advance(10_000);
    await events.until('completed');

    expect(clock.elapsedMs).toBe(10_000);
  });

  it('is idle when nothing runs, waits or is due, and not before', async () => {
    const world = await setup();
    const { producer, events, admin, runner } = await world.start({ handlers: { q: () => 'done' } });

    await producer.enqueueMany('q', plain(50));
    await producer.enqueue('q', 0, { delay: '1h' });
    await runner.whenIdle();

    expect(events.of('completed')).toHaveLength(50);
    expect(await admin.counts('q')).toMatchObject({ completed: 50, waiting: 0, active: 0, scheduled: 1 });
  });

  it('is not idle between a failed attempt and the one that follows it at once', async () => {
    const world = await setup();
    const { producer, events, runner } = await world.start({
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: {
        q: ({ attempt }) => {
          if (attempt < 3) throw new Error('not yet');
        },
      },
    });
    const rounds = Array.from({ length: 60 }, (_, round) => round + 1);

    const completed: number[] = [];
    for (const round of rounds) {
      await producer.enqueueMany('q', plain(1 + (round % 3)));
      await runner.whenIdle();
      completed.push(events.of('completed').length);
    }

    let jobs = 0;
    expect(completed).toEqual(rounds.map((round) => (jobs += 1 + (round % 3))));
    expect(events.of('failed')).toHaveLength(2 * jobs);
  });

  it('finds jobs that another process has enqueued', async () => {
    const world = await setup();
    const worker = await world.start({ handlers: { q: () => 'done' } });
    const { producer } = await world.start({ autoStart: false });
    await worker.runner.whenIdle();

    const { id } = await producer.enqueue('q', 0);

    expect(await worker.events.until('completed')).toMatchObject({ jobId: id });
  });
});

describeEngines(
  'a worker that is being given jobs',
  (setup) => {
    it('looks twice a second, and goes back to its pace when there are no more', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const claiming = gate();
      // A worker that starts reads first which queues are paused.
      let looks = -1;
      const driver = recordingDriver(async (sql) => {
        if (sql.includes('FROM sql_queue_queues q')) looks++;
        if (/state = 'waiting'[^]*FOR UPDATE SKIP LOCKED/.test(sql)) await claiming.opened;
      });
      const { producer, runner, events } = await world.start({
        ...{ clock, dataSource: await world.connect({ driver }), autoStart: false },
        ...{ worker: { poll: { min: '100ms', max: '1s' }, doorbell: false }, handlers: { q: () => 'done' } },
      });
      await producer.enqueueMany('q', plain(5));
      await runner.start();
      const seen: number[] = [];
      for (let rest = 100 * JITTERED; rest > 0; rest = Math.min(rest, 500 - clock.elapsedMs)) {
        await clock.resting(rest);
        seen.push(looks);
        await clock.advance(rest);
      }
      await clock.resting(100 * JITTERED);
      seen.push(looks);

      claiming.open();
      await events.until('completed');
      await runner.whenIdle();
      await clock.resting(200 * JITTERED);

      expect(seen).toEqual([1, 1, 1, 1, 1, 2]);
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines(
  'a worker that is asked when it is idle',
  (setup) => {
    it('while it settles a failed attempt waits for the one that follows at once, also where the answer to its claim is late', async () => {
      const world = await setup();
      const settling = gate();
      const asked = gate();
      const claimed = gate();
      const transactions = new Map<object, string[]>();
      let hasFailed = false;
      const driver = recordingDriver(async (sql, ask, connection) => {
        if (sql === 'START TRANSACTION') transactions.set(connection, []);
        const transaction = transactions.get(connection) ?? [];
        transaction.push(sql);
        // A look that comes too early sees the job neither waiting nor run.
        if (hasFailed && sql.includes('FROM sql_queue_queues')) await claimed.opened;
        if (sql !== 'COMMIT') return;
        const settles = transaction.some((one) => /UPDATE sql_queue_jobs[^]*'waiting'/.test(one));
        if (settles && !hasFailed) {
          hasFailed = true;
          settling.open();
          await asked.opened;
        }
        if (!hasFailed || !transaction.some((one) => one.includes('INSERT INTO sql_queue_claims'))) return;
        await ask('COMMIT');
        claimed.open();
        // Long enough for whoever does not wait for the answer.
        for (let round = 0; round < 20; round++) await world.sql('SELECT 1');
      });
      const dataSource = await world.connect({ driver });
      const { producer, events, runner } = await world.start({
        ...{ dataSource, worker: { poll: { min: '1h', max: '1h' } } },
        handlers: {
          q: ({ attempt }) => {
            if (attempt === 1) throw new Error('not yet');
          },
        },
      });
      await runner.whenIdle();
      await producer.enqueue('q', 0);
      await settling.opened;

      const idle = runner.whenIdle();
      asked.open();
      await idle;

      expect(events.of('completed')).toMatchObject([{ attempt: 2 }]);
    });
  },
  ['mysql', 'mariadb'],
);
