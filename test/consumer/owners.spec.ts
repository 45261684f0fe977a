import { QUEUE_EVENTS } from '../../lib/job/queue-event.js';
import { describeEngines } from '../support/engines.js';
import { EventLog } from '../support/event-log.js';
import { rescueRules } from '../support/jobs.js';

const ANN = { owner: 'ann' };

describeEngines('the owner of a job', (setup) => {
  it.each(['completed', 'dead', 'cancelled'] as const)('is stored in the history of a %s job', async (state) => {
    const world = await setup();
    const { producer, consumer, admin } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', ANN);

    if (state === 'completed') await consumer.complete(id, { ...ANN, result: 1 });
    if (state === 'dead') await consumer.fail(id, { ...ANN, error: 'no', retry: false });
    if (state === 'cancelled') await admin.cancel(id);

    expect(await admin.get(id)).toMatchObject({ state, owner: 'ann' });
    expect(await world.sql('SELECT owner FROM sql_queue_history')).toEqual([{ owner: 'ann' }]);
  });

  it('is null in the history of a job that a worker ran or a token completed', async () => {
    const world = await setup();
    const { producer, consumer, admin, events } = await world.start({ handlers: { q: () => 1 } });
    const run = await producer.enqueue('q', 0);
    await events.until('completed');
    const held = await producer.enqueue('p', 0);
    const [job] = await consumer.claim('p');
    await consumer.complete(held.id, { token: job!.token });

    expect([await admin.get(run.id), await admin.get(held.id)]).toMatchObject([{ owner: null }, { owner: null }]);
  });

  it('is stored if the lease expires and the job has no attempt left', async () => {
    const world = await setup();
    const { producer, consumer, admin, store } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0, { retry: { attempts: 1 } });
    await consumer.claim('q', { ...ANN, lease: '1m' });
    world.advance(61_000);

    await store.rescue(rescueRules({ decide: () => ({ kind: 'dead', error: { name: 'E', message: 'm' } }) }));

    expect(await admin.get(id)).toMatchObject({ state: 'dead', owner: 'ann' });
  });

  it.each([false, true])('is part of the events of its job (recorded: %o)', async (recorded) => {
    const world = await setup();
    const { producer, consumer, admin, bus, listenAnywhere } = await world.start({
      autoStart: false,
      queues: { q: { events: recorded } },
    });
    const received = recorded ? await listenAnywhere() : new EventLog();
    if (!recorded) received.listenTo(bus, [...QUEUE_EVENTS]);
    const jobs = await producer.enqueueMany('q', [{ payload: 1 }, { payload: 2 }]);

    await consumer.claim('q', { ...ANN, limit: 2 });
    await consumer.release(jobs[0]!.id, ANN);
    await consumer.assign(jobs[0]!.id, 'bob');
    await consumer.complete(jobs[0]!.id, { owner: 'bob' });
    await admin.cancel(jobs[1]!.id);
    await received.until('cancelled');

    const eventsOf = (index: number) =>
      received.all.filter(({ jobId }) => jobId === jobs[index]!.id).map(({ event, owner }) => `${event} ${owner}`);
    expect(eventsOf(0)).toEqual(['enqueued null', 'claimed ann', 'released ann', 'claimed bob', 'completed bob']);
    expect(eventsOf(1)).toEqual(['enqueued null', 'claimed ann', 'cancelled ann']);
  });
});
