import { randomBytes } from 'node:crypto';
import { aesGcm } from '../../lib/extras/codecs/aes-gcm.js';
import { describeEngines } from '../support/engines.js';

describeEngines('the list of the steps of a job', (setup) => {
  it('has the decoded values of steps and signals, page by page', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      codec: aesGcm({ keys: [{ id: 'key', key: randomBytes(32) }] }),
      handlers: {
        q: async (job) => {
          await job.step('charge', () => ({ card: '4242' }));
          await job.waitFor('approval', { key: 'order:7' });
          await job.sleep('rest', '1h');
        },
      },
    });
    await producer.signal('approval', 'order:7', { by: 'ann' });
    const { id } = await producer.enqueue('q', 0);
    await events.until('snoozed');

    const first = await admin.steps(id, { limit: 2 });

    expect(first.steps).toMatchObject([
      { name: 'approval', state: 'done', value: { by: 'ann' }, signalKey: 'order:7' },
      { name: 'charge', state: 'done', value: { card: '4242' }, until: null, signalKey: null },
    ]);
    expect(await admin.steps(id, { limit: 2, after: first.next })).toEqual({
      steps: [{ name: 'rest', state: 'sleeping', value: null, until: expect.any(Date), signalKey: null }],
    });
  });

  it('is empty for a job without steps, and rejects for an unknown job', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);

    expect(await admin.steps(id)).toEqual({ steps: [] });
    await expect(admin.steps(id + 1)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
    await expect(admin.steps(id, { after: 'nothing' })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });
});
