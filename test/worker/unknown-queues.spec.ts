import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import type { QueueLimitOptions } from '../../lib/admin/require-queue.js';
import { describeEngines, type World } from '../support/engines.js';

type Verb = (admin: QueueAdmin, queue: string, options?: QueueLimitOptions) => Promise<unknown>;

const VERBS: Readonly<Record<string, Verb>> = {
  pause: (admin, queue, options) => admin.pause(queue, options),
  resume: (admin, queue, options) => admin.resume(queue, options),
  limit: (admin, queue, options) => admin.limit(queue, { maxRunning: 1 }, options),
  configure: (admin, queue, options) => admin.configure(queue, { concurrency: 2 }, options),
  'group.pause': (admin, queue, options) => admin.group(queue, 'g').pause(options),
  'group.resume': (admin, queue, options) => admin.group(queue, 'g').resume(options),
  'group.limit': (admin, queue, options) => admin.group(queue, 'g').limit({ weight: 2 }, options),
  'group.rest': (admin, queue, options) => admin.group(queue, 'g').rest('1m', options),
};

describeEngines('a queue that does not exist', (setup) => {
  it.each(Object.entries(VERBS))('is refused by %s with a suggestion, unless the caller creates it', async (_, act) => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await producer.enqueue('email.send', 0);

    await expect(act(admin, 'email.sned')).rejects.toMatchObject({
      ...{ code: 'QUEUE_NOT_FOUND', queue: 'email.sned' },
      message: expect.stringContaining('There is no queue "email.sned", did you mean "email.send"?'),
    });
    expect((await admin.queues()).map(({ queue }) => queue)).toEqual(['email.send']);
    expect((await admin.audit()).entries).toEqual([]);

    await act(admin, 'email.sned', { create: true });
    await act(admin, 'email.send');
    await expect(act(admin, 'email.send', { create: 1 } as never)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('is unknown until a job, a schedule, a subscription, a worker or its own process names it', async () => {
    const world = await setup();
    const { admin, producer, schedules } = await world.start({
      autoStart: false,
      queues: { option: {}, 'prefix*': {} },
    });
    const handlers = { served: () => 1, excluded: () => 1 };
    await world.start({ handlers, worker: { queues: { exclude: ['excluded'] } } });
    await producer.enqueue('job', 0);
    const { id } = await producer.enqueue('history', 0);
    await admin.cancel(id);
    await schedules.upsert('nightly', { cron: '0 3 * * *', queue: 'schedule', payload: 0 });
    await admin.subscribe('subscription', { topic: 'x' });

    for (const queue of ['option', 'served', 'excluded', 'job', 'history', 'schedule', 'subscription'])
      await expect(admin.limit(queue, null), queue).resolves.toBeUndefined();
    for (const queue of ['prefix', 'default', 'Job'])
      await expect(admin.limit(queue, null), queue).rejects.toMatchObject({ code: 'QUEUE_NOT_FOUND' });
    expect(await knownTo(world, 'handler')).toBe(true);
  });

  it('is listed with the known ones if none is similar', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    const message = async () => String(await admin.pause('nope').catch((error: Error) => error.message));

    expect(await message()).toContain('There is no queue "nope". There are no queues yet.');
    for (let n = 10; n < 22; n++) await producer.enqueue(`long.queue.${n}`, 0);
    expect(await message()).toContain('Known: long.queue.10, long.queue.11, ');
    expect(await message()).toContain('long.queue.19 and 2 more.');
    expect(await message()).toContain('Pass { create: true } if you mean a new queue.');
  });

  it('exists for a transaction of the caller that has enqueued its first job', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });

    await world.dataSource.transaction(async (manager) => {
      await expect(admin.pause('new', { manager })).rejects.toMatchObject({ code: 'QUEUE_NOT_FOUND' });
      await producer.enqueue('new', 0, { manager });
      await admin.pause('new', { manager });
    });

    expect(await admin.queues()).toMatchObject([{ queue: 'new', paused: true }]);
  });
});

/** Whether a process may pause a queue for which only itself has a handler, although it runs no worker. */
async function knownTo(world: World, queue: string): Promise<boolean> {
  const { admin } = await world.start({ autoStart: false, handlers: { [queue]: () => 1 } });
  return admin.pause(queue).then(
    () => true,
    () => false,
  );
}
