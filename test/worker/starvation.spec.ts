import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

describeEngines('a queue that fails forever', (setup) => {
  it('leaves slots of the process to the other queues', async () => {
    const world = await setup();
    const bad = { retry: { attempts: 1_000_000, backoff: 0 } } as const;
    const { producer, events } = await world.start({
      queues: { bad },
      worker: { concurrency: 2 },
      handlers: { bad: () => Promise.reject(new Error('always')), good: () => 'done' },
    });

    await producer.enqueueMany('bad', plainJobs(50));
    await events.untilCount(100, 'failed');
    await producer.enqueueMany('good', plainJobs(50));
    await events.untilCount(50, 'completed');

    expect(events.of('completed').map(({ queue }) => queue)).toEqual(Array.from({ length: 50 }, () => 'good'));
  });
});

describeEngines('a queue that never runs out of jobs', (setup) => {
  it.each([0, 10])('leaves shared slots to other queues in turn (prefetch %i)', async (prefetch) => {
    const world = await setup();
    const begun: string[] = [];
    const { producer, events } = await world.start({
      queues: { busy: { concurrency: 1, prefetch }, other: { concurrency: 1, prefetch } },
      worker: { concurrency: 1 },
      handlers: {
        busy: async () => {
          begun.push('busy');
          if (begun.length < 300) await producer.enqueue('busy', 0);
        },
        other: () => void begun.push('other'),
      },
    });
    await producer.enqueueMany('busy', plainJobs(20));
    await events.untilCount(20, 'completed');

    await producer.enqueue('other', 0);
    await events.until('started', { queue: 'other' });

    expect(begun.filter((queue) => queue === 'busy').length).toBeLessThan(300);
    await events.untilCount(begun.filter((queue) => queue === 'busy').length, 'completed', { queue: 'busy' });
  });
});

describeEngines('queues that share slots', (setup) => {
  it.each([0, 10])(
    'claim no more jobs than there are slots, and leave the rest to other workers (prefetch %i)',
    async (prefetch) => {
      const world = await setup();
      const { open, opened } = gate();
      const queues = { a: { prefetch }, b: { prefetch } };
      const handlers = { a: () => opened, b: () => opened };
      const settings = { queues, handlers, worker: { concurrency: 1 } };
      const { producer, runner, events, admin } = await world.start({ ...settings, autoStart: false });
      for (const queue of ['a', 'b']) await producer.enqueue(queue, 0);

      await runner.start();
      await events.until('started');
      const other = await world.start(settings);
      await other.events.until('started');

      expect(await admin.counts()).toMatchObject({ active: 2, waiting: 0 });
      open();
      await Promise.all([events, other.events].map((each) => each.until('completed')));
      await eventually(async () => (await admin.counts()).completed === 2);
    },
  );
});
