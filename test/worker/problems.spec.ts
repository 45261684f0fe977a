import { describeEngines } from '../support/engines.js';

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
});
