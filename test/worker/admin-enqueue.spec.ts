import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, type World } from '../support/engines.js';

const idle = (world: World) => world.start({ autoStart: false, queues: { small: { maxWaiting: 1 } } });

describeEngines('admin.enqueue', (setup) => {
  it('enqueues a job with its options, which a worker runs at once', async () => {
    const world = await setup();
    const { admin, events } = await world.start({ handlers: { q: ({ payload }: JobContext) => payload } });

    const { id } = await admin.enqueue('q', { to: 'ann' }, { name: 'n', priority: 3, headers: { a: '1' } });
    const done = await events.until('completed');

    expect(done).toMatchObject({ jobId: id, result: { to: 'ann' } });
    expect(await admin.get(id)).toMatchObject({ name: 'n', priority: 3, headers: { a: '1' }, state: 'completed' });
  });

  it('emits the event of a new job, and none if another job owns the key', async () => {
    const { admin, events, bus } = await idle(await setup());
    events.listenTo(bus, ['enqueued']);

    await admin.enqueue('q', 1, { key: 'k', delay: '1h', create: true });
    await admin.enqueue('q', 2, { key: 'k', delay: '1h' });
    const { id } = await admin.enqueue('q', 3, { delay: '1h' });
    const enqueued = await events.untilCount(2, 'enqueued');

    expect(enqueued.map(({ jobId }) => jobId).at(-1)).toBe(id);
  });

  it('rejects an unknown queue, a full one, and options that are wrong, before it stores anything', async () => {
    const { admin, producer } = await idle(await setup());
    await producer.enqueue('email', 1);
    await producer.enqueue('small', 1);

    const codeOf = (call: Promise<unknown>) => call.then(String, ({ code }: { code: string }) => code);
    const codes = [
      await codeOf(admin.enqueue('emial', 1)),
      await codeOf(admin.enqueue('small', 1)),
      await codeOf(admin.enqueue('email', 1, { delay: 'soon' as never })),
      await codeOf(admin.enqueue('email', () => 1)),
      await codeOf(admin.enqueue('email', 1, { manager: {} as never })),
    ];

    expect(codes).toEqual(['QUEUE_NOT_FOUND', 'QUEUE_FULL', 'INVALID_OPTIONS', 'PAYLOAD_INVALID', 'INVALID_OPTIONS']);
    await expect(admin.enqueue('emial', 1)).rejects.toThrow(/did you mean "email"/);
    expect((await admin.find()).jobs).toHaveLength(2);
    expect((await admin.audit()).entries).toEqual([]);
  });
});
