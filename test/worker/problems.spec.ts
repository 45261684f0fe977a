import { describeEngines, gate, plainJobs, type World } from '../support/engines.js';

const MINUTE_MS = 60_000;

describeEngines('the problems of all queues', (setup) => {
  it('are a queue without a worker and a paused one with its administrator', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await admin.as('ann').pause('paused', { create: true });
    await producer.enqueue('paused', 0);
    await producer.enqueue('unserved', 0);

    expect(await admin.problems()).toMatchObject([
      { rule: 'no-worker', severity: 'broken', queue: 'unserved', since: expect.any(Date) },
      { rule: 'paused', queue: 'paused', message: expect.stringContaining('is paused by ann: 1 job waits') },
    ]);
    expect(await admin.problems({ queue: 'paused' })).toMatchObject([{ rule: 'paused' }]);
  });

  it('are no queue without a worker whose jobs a person holds', async () => {
    const world = await setup();
    const { admin, producer, consumer } = await world.start({ autoStart: false });
    await producer.enqueueMany('review', plainJobs(3));
    const rules = async () => (await admin.problems()).map(({ rule }) => rule);
    const before = await rules();

    const [held] = await consumer.claim('review', { owner: 'ann' });
    const whileHeld = await rules();
    await consumer.release(held!.id, { owner: 'ann' });
    await forgetStats(world);

    expect([before, whileHeld, await rules()]).toEqual([['no-worker'], [], ['no-worker']]);
  });

  it('are a queue with ten attempts of which a fifth fail, until more of them succeed', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    const fail = () => Promise.reject(new Error('no'));
    await run(world, producer.enqueueMany('q', plainJobs(9, { retry: 1 })), 'dead', fail);

    expect(await admin.problems()).toMatchObject([{ rule: 'dead-jobs', severity: 'attention', queue: 'q' }]);

    await run(world, producer.enqueueMany('q', plainJobs(1, { retry: 1 })), 'dead', fail);

    expect(await admin.problems()).toMatchObject([
      { rule: 'failing', severity: 'broken', queue: 'q', since: expect.any(Date), isGettingWorse: true },
    ]);

    await run(world, producer.enqueueMany('q', plainJobs(41)), 'completed', () => 'done');

    expect(await admin.problems()).toMatchObject([{ rule: 'dead-jobs', severity: 'attention', queue: 'q' }]);
  });

  it('are a queue that is behind for five minutes although a worker serves it', async () => {
    const world = await setup();
    const busy = gate();
    const settings = { queues: { q: { concurrency: 1 } }, handlers: { q: () => busy.opened } };
    const { admin, producer, events } = await world.start(settings);
    await producer.enqueueMany('q', plainJobs(2));
    await events.until('started');

    expect(await admin.problems()).toEqual([]);

    await world.sql(`UPDATE sql_queue_jobs SET created_at = created_at - ${6 * MINUTE_MS}`);
    await forgetStats(world);

    expect(await admin.problems()).toMatchObject([
      { rule: 'behind', severity: 'broken', queue: 'q', message: expect.stringContaining('1 job waits') },
    ]);
    busy.open();
  });
});

/** A worker runs the jobs, saves its statistics, and closes. */
async function run(
  world: World,
  enqueued: Promise<readonly unknown[]>,
  end: 'completed' | 'dead',
  handler: () => unknown,
): Promise<void> {
  const { length } = await enqueued;
  const worker = await world.start({ handlers: { q: handler } });
  await worker.events.untilCount(length, end);
  await worker.close();
  await forgetStats(world);
}

/** The next reader takes a new sample. */
const forgetStats = (world: World) => world.sql('DELETE FROM sql_queue_stats');
