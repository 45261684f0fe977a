import { describeEngines, plain } from '../support/engines.js';

describeEngines('a queue that fails without end', (setup) => {
  it('starves no other queue of the process’s slots', async () => {
    const world = await setup();
    const bad = { retry: { attempts: 1_000_000, backoff: 0 } } as const;
    const { producer, events } = await world.start({
      queues: { bad },
      worker: { concurrency: 2 },
      handlers: { bad: () => Promise.reject(new Error('always')), good: () => 'done' },
    });

    await producer.enqueueMany('bad', plain(50));
    await events.untilCount(100, 'failed');
    await producer.enqueueMany('good', plain(50));
    await events.untilCount(50, 'completed');

    expect(events.of('completed').map(({ queue }) => queue)).toEqual(Array.from({ length: 50 }, () => 'good'));
  });
});
