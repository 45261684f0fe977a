import { limitPages } from '../../lib/common/lists.js';
import type { WaitFilter } from '../../lib/store/features/steps/step-store.js';
import { describeEngines, type World } from '../support/engines.js';

afterEach(() => limitPages(Infinity));

describeEngines('the list of waits for signals', (setup) => {
  it('has the open waits by name, key and queue, page by page', async () => {
    const world = await setup();
    const { engine, ids } = await startWaiting(world, ['approval 1', 'approval 2', 'payment 1', 'approval 1']);
    const { admin, producer, events } = engine;
    limitPages(2);
    const jobsOf = async (filter: WaitFilter) =>
      (await admin.waits(filter)).waits.map(({ jobId }) => jobId).sort((a, b) => a - b);

    const first = await admin.waits({}, { limit: 3 });
    const last = await admin.waits({}, { limit: 3, after: first.next });

    const all = [...first.waits, ...last.waits].map(({ jobId }) => jobId);
    expect(all.sort((a, b) => a - b)).toEqual(ids);
    expect(last).toMatchObject({ waits: [{}] });
    expect(last.next).toBeUndefined();
    expect((await admin.waits({ name: 'approval', key: '2' })).waits).toEqual([
      { jobId: ids[1], queue: 'q', jobName: 'default', name: 'approval', key: '2', until: expect.any(Date) },
    ]);
    expect(await jobsOf({ name: 'approval' })).toEqual([ids[0], ids[1], ids[3]]);
    expect(await jobsOf({ key: '1' })).toEqual([ids[0], ids[2], ids[3]]);
    expect(await jobsOf({ name: 'approval', key: '1', queue: 'q' })).toEqual([ids[0], ids[3]]);
    expect(await jobsOf({ queue: 'other' })).toEqual([]);

    await producer.signal('approval', '2');
    await events.until('completed', { jobId: ids[1] });
    await admin.cancel(ids[2]!);

    expect(await jobsOf({})).toEqual([ids[0], ids[3]]);
  });

  it.each([{ name: '' }, { key: '' }, { queue: 'a b' }, { state: 'waiting' }])(
    'rejects the filter %o',
    async (filter) => {
      const world = await setup();
      const { admin } = await world.start({ autoStart: false });

      await expect(admin.waits(filter)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    },
  );
});

describeEngines('a signal of an administrator', (setup) => {
  it('wakes the jobs that wait for it, and has an entry in the audit without its data', async () => {
    const world = await setup();
    const { engine, ids } = await startWaiting(world, ['approval 1', 'approval 2']);
    const { admin, events } = engine;

    const woken = await admin.as('ann').signal('approval', '1', { card: 'card of ann' });
    const ended = await events.until('completed', { jobId: ids[0] });
    const none = await admin.signal('approval', 'none');

    expect([woken, none, ended.result]).toEqual([1, 0, { card: 'card of ann' }]);
    const { entries } = await admin.audit();
    expect(entries).toMatchObject([
      { verb: 'signal', by: 'ann', which: { name: 'approval', key: '1' }, queue: 'q', count: 1 },
      { verb: 'signal', by: null, which: { name: 'approval', key: 'none' }, queue: null, count: 1 },
    ]);
    expect(JSON.stringify(entries)).not.toContain('card of ann');
    expect((await admin.audit({ verb: 'signal', queue: 'q' })).entries).toHaveLength(1);
  });

  it('names no queue in the audit if jobs of several queues wait for it', async () => {
    const world = await setup();
    const { engine } = await startWaiting(world, ['go 1'], ['q', 'other']);

    expect(await engine.admin.signal('go', '1')).toBe(2);

    expect((await engine.admin.audit()).entries).toMatchObject([{ verb: 'signal', queue: null }]);
  });

  it('exists, with its entry, only if the transaction of the caller commits', async () => {
    const world = await setup();
    const { engine, ids } = await startWaiting(world, ['go 1']);
    const { admin, events } = engine;
    const failed = world.dataSource.transaction(async (manager) => {
      await admin.signal('go', '1', 1, { manager });
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect([(await admin.audit()).entries, (await admin.signals()).signals]).toEqual([[], []]);

    await world.dataSource.transaction(async (manager) =>
      expect(await admin.signal('go', '1', 1, { manager })).toBeNull(),
    );

    expect(await events.until('completed', { jobId: ids[0] })).toMatchObject({ result: 1 });
    expect((await admin.audit()).entries).toMatchObject([{ verb: 'signal', queue: 'q' }]);
  });

  it('rejects an invalid name, key or option before any SQL', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    for (const call of [
      () => admin.signal('', 'key'),
      () => admin.signal('go', ''),
      () => admin.signal('go', 'key', 1, { manger: 1 } as never),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    expect((await admin.signals()).signals).toEqual([]);
  });
});

/** Starts a job in each queue for each signal, given as name and key, which all wait at the end. */
async function startWaiting(world: World, signals: readonly string[], queues = ['q']) {
  const wait = async (job: { payload: unknown; waitFor(name: string, options: { key: string }): Promise<unknown> }) => {
    const [name, key] = (job.payload as string).split(' ') as [string, string];
    return job.waitFor(name, { key });
  };
  const engine = await world.start({ handlers: Object.fromEntries(queues.map((queue) => [queue, wait])) });
  const ids: number[] = [];
  for (const queue of queues) for (const signal of signals) ids.push((await engine.producer.enqueue(queue, signal)).id);
  for (const jobId of ids) await engine.events.until('snoozed', { jobId });
  return { engine, ids };
}
