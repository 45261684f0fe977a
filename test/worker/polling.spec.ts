import { systemClock } from '../../lib/common/clock.js';
import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { interceptingDriver } from '../support/intercepting-driver.js';

// The random number of these engines is 0.5, and jitter makes a poll interval up to a fifth longer.
const JITTERED = 1.1;

describeEngines('a worker without work', (setup) => {
  it('polls at growing intervals up to the maximum, and at the minimum again after a wake-up', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { runner, producer, events } = await world.start({
      clock,
      worker: { poll: { min: '100ms', max: '1s' } },
      handlers: { q: () => 'done' },
    });
    const pace = [200, 400, 800, 1_000, 1_000].map((ms) => ms * JITTERED);

    for (const rest of pace) {
      await clock.untilSleeping(rest);
      await clock.advance(rest);
    }
    await clock.untilSleeping(pace.at(-1)!);
    await producer.enqueue('q', 0);
    await events.until('completed');
    await runner.whenIdle();
    await clock.untilSleeping(pace[0]!);

    expect(clock.sleeps.filter((ms) => pace.includes(ms)).slice(0, 5)).toEqual(pace);
  });

  it('sleeps only until the next job is due', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer, events, runner } = await world.start({
      clock,
      worker: { poll: { min: '1h', max: '1h' } },
      handlers: { q: () => 'done' },
    });
    await clock.untilSleeping(3_600_000 * JITTERED);

    await producer.enqueue('q', 0, { delay: '10s' });
    await runner.whenIdle();
    await clock.advance(10_000);
    await events.until('completed');

    expect(clock.elapsedMs).toBe(10_000);
  });

  it('is idle when no job runs, waits or is due, and not before', async () => {
    const world = await setup();
    const { producer, events, admin, runner } = await world.start({ handlers: { q: () => 'done' } });

    await producer.enqueueMany('q', plainJobs(50));
    await producer.enqueue('q', 0, { delay: '1h' });
    await runner.whenIdle();

    expect(events.of('completed')).toHaveLength(50);
    expect(await admin.counts('q')).toMatchObject({ completed: 50, waiting: 0, active: 0, scheduled: 1 });
  });

  it('is not idle between a failed attempt and its immediate retry', async () => {
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
      await producer.enqueueMany('q', plainJobs(1 + (round % 3)));
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
  'a worker that receives jobs',
  (setup) => {
    it('polls twice a second without a read of waiting jobs, and returns to its pace when there are no more', async () => {
      const world = await setup();
      const clock = new FakeClock();
      const claiming = gate();
      // The first read of a starting worker only finds the paused queues.
      let looks = -1;
      // A read of the waiting jobs would pass all active ones.
      const readsWaiting: boolean[] = [];
      const driver = interceptingDriver(async (sql) => {
        if (sql.includes('FROM sql_queue_queues q') && looks++ >= 0)
          readsWaiting.push(!sql.includes("IN ('', 'q') OR"));
        if (/state = 'waiting'[^]*FOR UPDATE SKIP LOCKED/.test(sql)) await claiming.opened;
      });
      const { producer, runner, events } = await world.start({
        ...{ clock, dataSource: await world.connect({ driver }), autoStart: false },
        ...{ worker: { poll: { min: '100ms', max: '1s' }, notify: false }, handlers: { q: () => 'done' } },
      });
      await producer.enqueueMany('q', plainJobs(5));
      await runner.start();
      const seen: number[] = [];
      for (let rest = 100 * JITTERED; rest > 0; rest = Math.min(rest, 500 - clock.elapsedMs)) {
        await clock.untilSleeping(rest);
        seen.push(looks);
        await clock.advance(rest);
      }
      await clock.untilSleeping(100 * JITTERED);
      seen.push(looks);
      expect(readsWaiting).toEqual([true, false]);

      claiming.open();
      await events.until('completed');
      await runner.whenIdle();
      await clock.untilSleeping(200 * JITTERED);

      expect(seen).toEqual([1, 1, 1, 1, 1, 2]);
    });

    it('claims once for a job that is alone', async () => {
      const world = await setup();
      let claims = 0;
      const driver = interceptingDriver(async (sql) => {
        if (/state = 'waiting'[^]*FOR UPDATE SKIP LOCKED/.test(sql)) claims++;
      });
      const { producer, runner, events, workerChannel } = await world.start({
        ...{ dataSource: await world.connect({ driver }), worker: { poll: { min: '1h', max: '1h' } } },
        handlers: { q: () => 'done' },
      });
      await workerChannel.untilListening('q');
      // The poll of a listener that is just ready may find the first job too.
      await producer.enqueue('q', 0);
      await events.until('completed');
      await runner.whenIdle();
      const perJob: number[] = [];
      for (let job = 2; job <= 6; job++) {
        const before = claims;
        await producer.enqueue('q', 0);
        await events.untilCount(job, 'completed');
        perJob.push(claims - before);
      }

      expect(perJob).toEqual([1, 1, 1, 1, 1]);
    });

    it('starts the jobs that a claim has found, then those that it has passed, without a poll', async () => {
      const world = await setup();
      const ran: number[] = [];
      const { producer, events, runner } = await world.start({
        worker: { poll: { min: '1h', max: '1h' }, notify: false },
        handlers: { q: ({ id }) => void ran.push(id) },
      });
      await runner.whenIdle();
      const { id: passed } = await producer.enqueue('q', 0, { delay: '1d' });
      const { id: first } = await producer.enqueue('q', 0);
      await events.untilCount(1, 'completed');
      // Another process makes it wait. This one receives no notifications.
      await world.sql("UPDATE sql_queue_jobs SET state = 'waiting', run_at = NULL, runnable = 1 WHERE id = ?", [
        passed,
      ]);
      const spy = vi.spyOn(systemClock, 'monotonic').mockImplementation(() => performance.now() + 1_000);
      world.afterTest(() => spy.mockRestore());

      const { id: second } = await producer.enqueue('q', 0);
      await events.untilCount(3, 'completed');

      expect(ran).toEqual([first, second, passed]);
    });

    it('starts a job that another process has returned, after a claim that found none', async () => {
      const world = await setup();
      const worker = { poll: { min: '1h', max: '1h' } } as const;
      const { producer, events, runner } = await world.start({
        worker,
        handlers: { q: () => 'done' },
        autoStart: false,
      });
      const { consumer } = await world.start({ worker });
      const { id: returned } = await producer.enqueue('q', 0);
      await consumer.claim('q', { owner: 'ann' });
      await runner.start();
      const { id: later } = await producer.enqueue('q', 0);
      await events.untilCount(1, 'completed');
      await runner.whenIdle();

      await consumer.release(returned, { owner: 'ann' });
      await events.untilCount(2, 'completed');

      expect(events.of('completed').map(({ jobId }) => jobId)).toEqual([later, returned]);
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines(
  'whenIdle()',
  (setup) => {
    it('waits for an immediate retry while the failed attempt is stored, even if the next claim is answered late', async () => {
      const world = await setup();
      const settling = gate();
      const asked = gate();
      const claimed = gate();
      const transactions = new Map<object, string[]>();
      let hasFailed = false;
      const driver = interceptingDriver(async (sql, ask, connection) => {
        if (sql === 'START TRANSACTION') transactions.set(connection, []);
        const transaction = transactions.get(connection) ?? [];
        transaction.push(sql);
        // A poll before the claim would find the job neither waiting nor running.
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
        // Long enough for a whenIdle() that does not wait for the answer.
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
