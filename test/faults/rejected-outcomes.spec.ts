import { describeEngines, plainJobs, type World } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { interceptingDriver } from '../support/intercepting-driver.js';

describeEngines('a completion batch', (setup) => {
  it('completes the other jobs if the database rejects one job, which fails alone', async () => {
    const world = await setup();
    const { producer, events, admin, runner } = await world.start({
      queues: { q: { concurrency: 50 } },
      handlers: { q: () => 'done' },
      autoStart: false,
    });
    await refuseCompletionOf(world, 'culprit');
    const jobs = await producer.enqueueMany(
      'q',
      Array.from({ length: 50 }, (_, index) => ({ payload: index === 20 ? 'culprit' : 'fine' })),
    );

    await runner.start();
    for (const attempt of [1, 2]) {
      await events.until('failed', { attempt });
      world.advance(1_000);
    }
    await events.until('dead');
    await runner.whenIdle();

    const culprit = jobs[20]!.id;
    expect(new Set(events.jobs('completed')).size).toBe(49);
    expect(events.of('completed')).toHaveLength(49);
    expect(events.of('failed').map(({ jobId, attempt }) => [jobId, attempt])).toEqual(
      [1, 2, 3].map((n) => [culprit, n]),
    );
    expect(await admin.counts('q')).toMatchObject({ completed: 49, dead: 1, active: 0, waiting: 0, scheduled: 0 });
    expect((await admin.get(culprit))?.error?.message).toContain('refused by the test');
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('completes a job without its result if the database rejects the result', async () => {
    const world = await setup();
    const { producer, events, admin } = await world.start({ handlers: { q: () => 'large' } });
    await refuse(world, `NEW.result = '"large"'`);

    const { id } = await producer.enqueue('q', 0);
    await events.until('completed');

    const error = { code: 'RESULT_INVALID', message: expect.stringContaining('refused by the test') as string };
    expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 1, result: null, error });
    await expect(producer.waitFor(id)).rejects.toMatchObject({ code: 'RESULT_INVALID' });
  });

  it('does not delay other outcomes while a rejected outcome waits for its retry', async () => {
    const world = await setup();
    const clock = new FakeClock();
    // A listener would sleep for as long before it reads cancellation requests.
    const worker = { notify: false } as const;
    const handlers = { q: () => undefined, r: () => undefined };
    const { producer, events } = await world.start({ clock, worker, handlers });
    await refuseCompletionOf(world, 'culprit');
    await producer.enqueue('q', 'culprit');
    await clock.untilSleeping(50);

    const { id } = await producer.enqueue('r', 'fine');
    await events.until('completed');

    expect(events.jobs('completed')).toEqual([id]);
  });

  it('completes the other jobs with the same outcome if the database rejects one of them', async () => {
    const world = await setup();
    // With a stopped clock all jobs have the same duration.
    const clock = new FakeClock();
    const { producer, events, admin, runner } = await world.start({
      ...{ clock, autoStart: false },
      queues: { q: { concurrency: 50, retry: 1 } },
      handlers: { q: () => undefined },
    });
    await refuseCompletionOf(world, 'culprit');
    const jobs = await producer.enqueueMany(
      'q',
      Array.from({ length: 50 }, (_, index) => ({ payload: index === 20 ? 'culprit' : 'fine' })),
    );

    await runner.start();
    await events.untilCount(49, 'completed');
    // Small steps, so that the lease does not expire before the database answers.
    while (events.of('dead').length === 0) {
      await clock.advance(50);
      await world.sql('SELECT 1 AS one');
    }

    expect(events.of('failed').map(({ jobId }) => jobId)).toEqual([jobs[20]!.id]);
    expect(await admin.counts('q')).toMatchObject({ completed: 49, dead: 1, active: 0, waiting: 0, scheduled: 0 });
    expect((await admin.get(jobs[20]!.id))?.error?.message).toContain('refused by the test');
    expect(await world.sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });
});

// The error of a statement timeout, and of a killed query.
const INTERRUPTED = { errno: 1317, message: 'Query execution was interrupted' };

describeEngines(
  'an outcome',
  (setup) => {
    it.each([
      ['its own statements', /DELETE [^;]*sql_queue_jobs/],
      ['a claim in the same transaction', /SKIP LOCKED/],
    ])('is stored even after an interruption of %s', async (_, statement) => {
      const world = await setup();
      let isArmed = false;
      let interrupted = 0;
      const driver = interceptingDriver((sql) => {
        if (!isArmed || !statement.test(sql) || interrupted === 2) return Promise.resolve();
        interrupted++;
        return Promise.reject(Object.assign(new Error(INTERRUPTED.message), INTERRUPTED));
      });
      const { producer, events, admin } = await world.start({
        dataSource: await world.connect({ driver }),
        queues: { q: { retry: 1, concurrency: 1 } },
        handlers: { q: () => void (isArmed = true) },
      });
      await producer.enqueueMany('q', plainJobs(50));

      await events.untilCount(50, 'completed');

      expect(interrupted).toBe(2);
      expect(events.of('failed')).toEqual([]);
      expect(await admin.counts('q')).toMatchObject({ completed: 50, dead: 0 });
    });
  },
  ['mysql', 'mariadb'],
);

function refuseCompletionOf(world: World, payload: string): Promise<void> {
  return refuse(world, `NEW.state = 'completed' AND NEW.payload = '"${payload}"'`);
}

async function refuse({ sql, server }: World, refused: string): Promise<void> {
  await sql(
    server.name === 'sqlite'
      ? `CREATE TRIGGER refuse BEFORE INSERT ON sql_queue_history WHEN ${refused}
         BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`
      : `CREATE TRIGGER refuse BEFORE INSERT ON sql_queue_history FOR EACH ROW
         IF ${refused} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused by the test'; END IF`,
  );
}
