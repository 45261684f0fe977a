import { QueueFullError } from '../../lib/job/errors.js';
import { WaitingLimit } from '../../lib/producer/waiting-limit.js';
import { describeEngines, plainJobs } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';

const queues = { 'few.*': {}, q: { maxWaiting: 3 } };

describeEngines('a queue with maxWaiting', (setup) => {
  it('accepts jobs up to that number, and then none', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ queues, autoStart: false });

    await producer.enqueueMany('q', plainJobs(2));
    await expect(producer.enqueueMany('q', plainJobs(2))).rejects.toThrow(QueueFullError);
    await producer.enqueue('q', 0);
    const refused = await producer.enqueue('q', 0).catch((error: unknown) => error);

    expect(refused).toMatchObject({ code: 'QUEUE_FULL', queue: 'q', waiting: 3, maxWaiting: 3 });
    expect(await admin.counts('q')).toMatchObject({ waiting: 3 });
  });

  it('counts the jobs that other processes stored and claimed within the last second', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer } = await world.start({ queues, clock, autoStart: false });
    const other = await world.start({ autoStart: false });
    await producer.enqueue('q', 0);

    await other.producer.enqueueMany('q', plainJobs(5));
    await clock.advance(1_000);
    await expect(producer.enqueue('q', 0)).rejects.toThrow(QueueFullError);
    await world.sql('DELETE FROM sql_queue_jobs');
    await clock.advance(1_000);

    await expect(producer.enqueue('q', 0)).resolves.toMatchObject({ queue: 'q' });
  });

  it('is counted again after ten seconds at most, even if the count took longer', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const { producer, store } = await world.start({ autoStart: false });
    const countWaiting: typeof store.countWaiting = async (...asked) => {
      await clock.advance(60_000);
      return store.countWaiting(...asked);
    };
    const limit = new WaitingLimit({ countWaiting }, clock);
    await producer.enqueueMany('q', plainJobs(3));
    await expect(limit.admit('q', 1, 3)).rejects.toThrow(QueueFullError);

    await world.sql('DELETE FROM sql_queue_jobs');
    await clock.advance(10_000);

    await limit.admit('q', 1, 3);
  });

  it('accepts exactly the limit from a hundred concurrent calls', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ queues: { q: { maxWaiting: 40 } }, autoStart: false });

    const answers = await Promise.allSettled(Array.from({ length: 100 }, () => producer.enqueue('q', 0)));

    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(40);
    expect(await admin.counts('q')).toMatchObject({ waiting: 40 });
  });

  it('counts one job for many calls with one key', async () => {
    const world = await setup();
    const { producer } = await world.start({ queues, autoStart: false });
    const put = (key: string) => producer.enqueue('q', 0, { key });

    const answers = await Promise.all(Array.from({ length: 20 }, () => put('k')));
    await Promise.all([put('a'), put('k')]);
    await put('b');

    expect(answers.filter(({ outcome }) => outcome === 'existing')).toHaveLength(19);
    await expect(put('c')).rejects.toThrow(QueueFullError);
  });

  it('keeps its room if a call is refused for another queue', async () => {
    const world = await setup();
    const limits = { q: { maxWaiting: 3 }, full: { maxWaiting: 1 } };
    // Its counts stay valid.
    const clock = new FakeClock();
    const { producer } = await world.start({ queues: limits, clock, autoStart: false });
    const both = ['q', 'full'].map((queue) => ({ queue, payload: 0 }));
    await producer.enqueue('full', 0);

    for (let n = 0; n < 3; n++) await expect(producer.enqueueMany(both)).rejects.toThrow(QueueFullError);

    await expect(producer.enqueueMany('q', plainJobs(3))).resolves.toHaveLength(3);
    await expect(producer.enqueue('q', 0)).rejects.toThrow(QueueFullError);
  });

  it('keeps its room if the jobs of a call are not stored', async () => {
    const world = await setup();
    const { producer } = await world.start({ queues, clock: new FakeClock(), autoStart: false });
    const { manager } = world.dataSource;
    await producer.enqueue('q', 0);

    const outside = 'expected the manager of an open transaction';
    await expect(producer.enqueueMany('q', plainJobs(2), { manager })).rejects.toThrow(outside);
    await expect(producer.flow((flow) => flow.addMany('q', [0, 0]), { manager })).rejects.toThrow(outside);

    await expect(producer.enqueueMany('q', plainJobs(2))).resolves.toHaveLength(2);
  });

  it('counts neither scheduled nor active jobs', async () => {
    const world = await setup();
    const { producer, store } = await world.start({ queues, autoStart: false });
    await producer.enqueueMany('q', plainJobs(9, { delay: '1h' }));
    await producer.enqueueMany('q', plainJobs(3));

    expect(await store.countWaiting('q', 100)).toBe(3);
    await producer.enqueue('q', 0, { delay: '1h' });
  });

  it('leaves a caller’s transaction usable when it rejects', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ queues, autoStart: false });

    await world.dataSource.transaction(async (manager) => {
      await expect(producer.enqueueMany('q', plainJobs(4), { manager })).rejects.toThrow(QueueFullError);
      await producer.enqueue('q', 0, { manager });
    });

    expect(await admin.counts('q')).toMatchObject({ waiting: 1 });
  });
});
