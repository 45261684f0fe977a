import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

describeEngines('the problems of all queues', (setup) => {
  it('are a queue without a worker and a paused one with its administrator, until they are repaired', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await admin.as('ann').pause('paused', { create: true });
    await producer.enqueue('paused', 0);
    await producer.enqueue('unserved', 0);

    // A sample is kept for at least 50 times as long as it took.
    const problems = async () =>
      (await admin.problems({ maxAge: 0 })).map(({ rule, queue }) => `${rule} ${queue}`).join();

    expect(await admin.problems({ maxAge: 0 })).toMatchObject([
      { rule: 'no-worker', severity: 'broken', queue: 'unserved', since: expect.any(Date) },
      { rule: 'paused', queue: 'paused', message: expect.stringContaining('is paused by ann: 1 job waits') },
    ]);
    expect(await admin.problems({ queue: 'paused', maxAge: 0 })).toMatchObject([{ rule: 'paused' }]);

    await admin.remove({ queue: 'unserved' });
    await admin.resume('paused');
    await eventually(async () => (await problems()) === 'no-worker paused');
    await admin.remove({ queue: 'paused' });
    await eventually(async () => (await problems()) === '');
  });

  it('are a queue whose attempts fail, and one whose jobs wait for long behind a job that runs', async () => {
    const world = await setup();
    const [started, end] = [gate(), gate()];
    world.afterTest(() => end.open());
    const failing = await world.start({
      handlers: { fails: () => Promise.reject(new Error('no')) },
      queues: { fails: { retry: { attempts: 1 } } },
    });
    await failing.producer.enqueueMany('fails', plainJobs(12));
    await failing.events.untilCount(12, 'dead');
    // It saves its attempts.
    await failing.close();
    const { admin, producer } = await world.start({
      handlers: { slow: () => (started.open(), end.opened) },
      queues: { slow: { concurrency: 1, prefetch: 0, lease: '1h' } },
    });
    expect(await admin.problems({ maxAge: 0 })).toMatchObject([
      { rule: 'failing', queue: 'fails', severity: 'broken', since: expect.any(Date) },
    ]);

    await producer.enqueueMany('slow', plainJobs(3));
    await started.opened;
    await world.sql(`UPDATE sql_queue_jobs SET created_at = created_at - 360000`);

    const behind = await eventually(async () =>
      (await admin.problems({ queue: 'slow', maxAge: 0 })).find(({ rule }) => rule === 'behind'),
    );
    expect(behind.message).toMatch(/^Queue "slow" is behind: 2 jobs wait, the oldest for 6m\./);
  });
});
