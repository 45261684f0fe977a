import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import type { QueueLimitOptions } from '../../lib/admin/require-queue.js';
import { describeEngines, type World } from '../support/engines.js';

type Verb = (admin: QueueAdmin, queue: string, options?: QueueLimitOptions) => Promise<unknown>;

/** Verbs that may create their queue. */
const VERBS: Readonly<Record<string, Verb>> = {
  pause: (admin, queue, options) => admin.pause(queue, options),
  resume: (admin, queue, options) => admin.resume(queue, options),
  limit: (admin, queue, options) => admin.limit(queue, { maxRunning: 1 }, options),
  configure: (admin, queue, options) => admin.configure(queue, { concurrency: 2 }, options),
  'group.pause': (admin, queue, options) => admin.group(queue, 'g').pause(options),
  'group.resume': (admin, queue, options) => admin.group(queue, 'g').resume(options),
  'group.limit': (admin, queue, options) => admin.group(queue, 'g').limit({ weight: 2 }, options),
  'group.rest': (admin, queue, options) => admin.group(queue, 'g').rest('1m', options),
  enqueue: (admin, queue, options) => admin.enqueue(queue, 0, options),
  'retry, to': (admin, to, options) => admin.retry({ queue: 'email.send', state: 'dead' }, { ...options, to }),
};

/** Verbs whose queue must exist. */
const STRICT: Readonly<Record<string, Verb>> = {
  cancel: (admin, queue) => admin.cancel({ queue }),
  'cancel, dry run': (admin, queue) => admin.cancel({ queue, state: 'waiting' }, { dryRun: true }),
  retry: (admin, queue) => admin.retry({ queue }),
  promote: (admin, queue) => admin.promote({ queue }),
  preview: (admin, queue) => admin.preview('promote', { queue }),
  remove: (admin, queue) => admin.remove({ queue }),
  unsubscribe: (admin, queue) => admin.unsubscribe(queue),
  'obliterate, dry run': (admin, queue) => admin.obliterate(queue, { dryRun: true }),
  obliterate: (admin, queue) => admin.obliterate(queue, { confirm: queue }),
};

/** Reads, and their answers. A dashboard may ask for a queue before its first job. */
const READS: Readonly<Record<string, readonly [Verb, unknown]>> = {
  counts: [(admin, queue) => admin.counts(queue), expect.objectContaining({ waiting: 0, dead: 0 })],
  'group.counts': [(admin, queue) => admin.group(queue, 'g').counts(), { waiting: 0, scheduled: 0, active: 0 }],
  find: [(admin, queue) => admin.find({ queue }), { jobs: [] }],
  stats: [(admin, queue) => admin.stats({ queue }), []],
  problems: [(admin, queue) => admin.problems({ queue }), []],
  history: [(admin, queue) => admin.history(queue), []],
  histories: [(admin, queue) => admin.histories([queue]), new Map([['email.sned', []]])],
  errors: [(admin, queue) => admin.errors({ queue }), []],
  groups: [(admin, queue) => admin.groups(queue), { groups: [] }],
  audit: [(admin, queue) => admin.audit({ queue }), { entries: [] }],
  flows: [(admin, queue) => admin.flows({ queue }), { flows: [] }],
  waits: [(admin, queue) => admin.waits({ queue }), { waits: [] }],
};

/** A subscription creates its queue: messages wait in it for its first worker. */
const CREATING = ['subscribe'];

const WITHOUT_A_QUEUE = [
  ...['as', 'queues', 'workers', 'subscriptions', 'prune', 'erase', 'rekey', 'get', 'explain', 'logs', 'release'],
  ...['reschedule', 'reprioritise', 'update', 'duplicate', 'steps', 'signals', 'signal', 'group'],
  ...['flow', 'cancelFlow', 'retryFlow', 'states', 'relatives', 'diagnoses'],
];

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

  it.each(Object.entries(STRICT))('is refused by %s with a suggestion', async (_, act) => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await producer.enqueue('email.send', 0);

    await expect(act(admin, 'email.sned')).rejects.toMatchObject({
      ...{ code: 'QUEUE_NOT_FOUND', queue: 'email.sned' },
      message: expect.stringContaining('There is no queue "email.sned", did you mean "email.send"?'),
    });
    expect((await admin.queues()).map(({ queue }) => queue)).toEqual(['email.send']);
    expect((await admin.audit()).entries).toEqual([]);
    await act(admin, 'email.send');
  });

  it.each(Object.entries(READS))('is empty for %s', async (_, [read, answer]) => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await producer.enqueue('email.send', 0);

    expect(await read(admin, 'email.sned')).toEqual(answer);
  });

  it('is considered by each verb of QueueAdmin', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });
    const verbs = new Set<string>();
    for (let one = Object.getPrototypeOf(admin) as object; one !== Object.prototype; one = Object.getPrototypeOf(one))
      for (const name of Object.getOwnPropertyNames(one)) verbs.add(name);
    verbs.delete('constructor');
    const tables = [...Object.keys({ ...VERBS, ...STRICT, ...READS }), ...CREATING, ...WITHOUT_A_QUEUE];

    const named = new Set(tables.map((name) => name.split(/[.,]/)[0]!));

    expect([...verbs].sort()).toEqual([...named].sort());
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
