import type { Engine } from '../support/engine.js';
import { describeEngines, plainJobs } from '../support/engines.js';

const uses: [title: string, use: (engine: Engine) => Promise<unknown>][] = [
  ['enqueue', ({ producer }) => producer.enqueue('q', 0)],
  ['enqueue with a key', ({ producer }) => producer.enqueue('q', 0, { key: 'k' })],
  ['enqueueMany', ({ producer }) => producer.enqueueMany('q', plainJobs(3))],
  ['publish', ({ producer }) => producer.publish('t', 0)],
  ['request', ({ producer }) => producer.request('q', 0)],
  ['cancel', ({ producer }) => producer.cancel(1)],
  ['QueueConsumer.claim', ({ consumer }) => consumer.claim('q', { owner: 'ann' })],
  ['QueueAdmin.counts', ({ admin }) => admin.counts('q')],
  ['QueueAdmin.get', ({ admin }) => admin.get(1)],
];

describeEngines('a closed queue', (setup) => {
  it.each(uses)('rejects %s with an error that names the shutdown of the application', async (_title, use) => {
    const world = await setup();
    const engine = await world.start();
    await engine.producer.enqueue('q', 0);
    await engine.close();

    await expect(use(engine)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcome: 'not-done',
      message: expect.stringMatching(/^The queue is closed, since its application has been shut down\./),
    });
  });

  it('rejects a wait for a job', async () => {
    const world = await setup();
    const { producer, close } = await world.start();
    const { id } = await producer.enqueue('q', 0);
    await close();

    await expect(producer.waitFor(id)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('closed'),
    });
  });
});
