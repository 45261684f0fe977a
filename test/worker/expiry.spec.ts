import { JobCancelledError } from '../../lib/job/errors.js';
import { describeEngines } from '../support/engines.js';

describeEngines('a job that expires', (setup) => {
  it('ends cancelled with the reason if no worker starts it in time, and the others run', async () => {
    const world = await setup();
    const ran: unknown[] = [];
    const { producer, admin, events, runner, log } = await world.start({
      ...{ handlers: { q: (job) => void ran.push(job.payload) }, autoStart: false },
    });
    const { id } = await producer.enqueue('q', 'late', { expiresIn: '1m' });
    await producer.enqueue('q', 'in time', { expiresIn: '1h' });
    await producer.enqueue('q', 'plain');

    world.advance(120_000);
    await runner.start();
    await events.untilCount(2, 'completed');
    await runner.whenIdle();

    expect(ran).toEqual(['in time', 'plain']);
    expect(await admin.get(id)).toMatchObject({ state: 'cancelled', error: { code: 'JOB_EXPIRED' } });
    expect(events.all.filter(({ jobId }) => jobId === id)).toMatchObject([
      { event: 'cancelled', error: { code: 'JOB_EXPIRED' } },
    ]);
    await expect(producer.waitFor(id)).rejects.toThrow(JobCancelledError);
    expect(log.filter((line) => line.includes('Job '))).toEqual([
      `warn: Job ${id} of queue "q" was cancelled: no worker has started it within its \`expiresIn\`.`,
    ]);
  });

  it('is not given to a claim of QueueConsumer', async () => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    const late = await producer.enqueue('q', 0, { expiresIn: '1m' });
    const fresh = await producer.enqueue('q', 0, { expiresIn: '1h' });
    world.advance(120_000);

    const claimed = await consumer.claim('q', { owner: 'ada' });

    expect(claimed.map(({ id }) => id)).toEqual([fresh.id]);
    expect(await admin.get(late.id)).toMatchObject({ state: 'cancelled' });
  });
});
