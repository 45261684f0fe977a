import type { AuditRecord } from '../../lib/store/features/audit/audit-store.js';
import { describeEngines, gate, plainJobs, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { claimFrom, newJob } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';

const DAY = 86_400_000;
const NONE: ReadonlySet<string> = new Set();

describeEngines('the audit', (setup) => {
  it('has an entry for each change of a job, with its author', async () => {
    const { admin, producer } = await open(await setup());
    const ann = admin.as('ann@example.com');
    const { id } = await producer.enqueue('q', 0, { delay: '1h' });

    const { id: byHand } = await ann.enqueue('q', 'secret', { delay: '1h', headers: { token: 'secret' } });
    await ann.reprioritise(id, 5);
    await ann.reschedule(id, '2h');
    await ann.update(id, { payload: 'secret', headers: { token: 'secret' } });
    const copy = await ann.duplicate(id);
    await ann.promote(id);
    await ann.cancel(id);
    await ann.retry(id);
    await ann.remove([id, copy!, byHand]);

    const { entries } = await admin.audit();
    expect(entries.map(({ verb, which, options, count }) => [verb, which, options, count])).toEqual([
      ['enqueue', 'q', { delay: '1h' }, 1],
      ['reprioritise', id, { priority: 5 }, 1],
      ['reschedule', id, { until: '2h' }, 1],
      ['update', id, { changes: ['payload', 'headers'] }, 1],
      ['duplicate', id, {}, 1],
      ['promote', id, undefined, 1],
      ['cancel', id, undefined, 1],
      ['retry', id, undefined, 1],
      ['remove', [id, copy, byHand], undefined, 3],
    ]);
    expect(new Set(entries.map(({ by, queue }) => `${by} ${queue}`))).toEqual(new Set(['ann@example.com q']));
    expect(JSON.stringify(entries)).not.toContain('secret');
  });

  it('has an entry for a job with a key, and none if another job owns the key', async () => {
    const { admin } = await open(await setup());
    const options = { key: 'k', create: true };

    const created = await admin.enqueue('q', 1, options);
    const existing = await admin.enqueue('q', 2, options);
    const replaced = await admin.enqueue('q', 3, { ...options, onConflict: 'replace' });
    const refused = admin.enqueue('q', 4, { ...options, onConflict: 'reject' });
    await expect(refused).rejects.toMatchObject({ code: 'DUPLICATE_KEY', jobId: created.id });

    const { entries } = await admin.audit();
    expect([created, existing, replaced].map(({ id, outcome }) => [id, outcome])).toEqual([
      [created.id, 'created'],
      [created.id, 'existing'],
      [created.id, 'replaced'],
    ]);
    expect(
      entries.map(({ verb, which, options: { onConflict } = {} as any, count }) => [verb, which, onConflict, count]),
    ).toEqual([
      ['enqueue', 'q', undefined, 1],
      ['enqueue', 'q', 'replace', 1],
    ]);
    expect((await admin.find()).jobs).toMatchObject([{ id: created.id, payload: 3, key: 'k' }]);
  });

  it('has one entry for an erasure, without its subject', async () => {
    const called: AuditRecord[] = [];
    const world = await setup();
    const { admin, producer, store } = await world.start({ autoStart: false, audit: (entry) => called.push(entry) });
    const options = { subject: 'user:42' };
    const ended = await producer.enqueue('first', 0, options);
    await admin.cancel(ended.id);
    const running = await producer.enqueue('running', 0, options);
    await claimFrom(store, { queue: 'running', strategy: 'update' });
    await producer.enqueueMany('last', [...plainJobs(60, options), ...plainJobs(1)]);
    const before = await admin.audit();

    await admin.as('ann').erase('user:42', { dryRun: true });
    expect(await admin.as('ann').erase('user:42', { limit: 1 })).toMatchObject({ erased: 1 });
    expect(await admin.as('ann').erase('user:42')).toEqual({ erased: 60, active: 1 });
    await admin.erase('user:17');

    const { entries } = await admin.audit();
    const expected = [
      { verb: 'erase', which: null, options: { limit: 1 }, queue: 'first', by: 'ann', count: 1 },
      { verb: 'erase', which: null, queue: null, by: 'ann', count: 61 },
    ];
    expect(entries.slice(before.entries.length)).toMatchObject(expected);
    expect(called.slice(before.entries.length)).toMatchObject(expected);
    expect(JSON.stringify([entries, called])).not.toContain('user:42');
    expect((await admin.get(running.id))!.state).toBe('active');
    expect(await admin.counts()).toMatchObject({ waiting: 1, cancelled: 61 });
  });

  it('has an entry for an erasure that finds only signals', async () => {
    const { admin, producer } = await open(await setup());
    await producer.signal('approved', 'user:42', true);

    await admin.erase('user:42');
    await admin.erase('user:42');

    expect((await admin.audit()).entries).toMatchObject([{ verb: 'erase', which: null, queue: null, count: 1 }]);
  });

  it('has an entry for each change of a queue, a group, a subscription, a flow and a schedule', async () => {
    const { admin, producer, schedules } = await open(await setup());
    const ann = admin.as('ann');
    const group = ann.group('q', 'g');
    const byAnn = schedules.as('ann');
    const { id } = await producer.flow((f) => f.add('q', 0));

    await ann.pause('q');
    await ann.resume('q');
    await ann.limit('q', { maxRunning: 5 });
    await ann.subscribe('q', { topic: ['a', 'b'] });
    await ann.unsubscribe('q');
    await ann.cancelFlow(id);
    await ann.retryFlow(id);
    await group.pause();
    await group.resume();
    await group.limit({ weight: 2 });
    await group.rest('1m');
    await byAnn.upsert('nightly', { queue: 'q', cron: '0 3 * * *', payload: 'secret' });
    await byAnn.pause('nightly');
    await byAnn.resume('nightly');
    await byAnn.runNow('nightly');
    await byAnn.remove('nightly');

    const { entries } = await admin.audit({ by: 'ann' });
    expect(entries.map(({ verb, count }) => [verb, count])).toEqual([
      ['pause', 1],
      ['resume', 1],
      ['limit', 1],
      ['subscribe', 1],
      ['unsubscribe', 2],
      ['cancelFlow', 1],
      ['retryFlow', 1],
      ['group.pause', 1],
      ['group.resume', 1],
      ['group.limit', 1],
      ['group.rest', 1],
      ['schedule.upsert', 1],
      ['schedule.pause', 1],
      ['schedule.resume', 1],
      ['schedule.runNow', 1],
      ['schedule.remove', 1],
    ]);
    expect(entries[11]).toMatchObject({ which: 'nightly', queue: 'q', options: { cron: '0 3 * * *' } });
    expect(JSON.stringify(entries)).not.toContain('secret');
  });

  it('has one entry for a call that changes jobs in several batches', async () => {
    const { admin, producer } = await open(await setup());
    await producer.enqueueMany('q', plainJobs(1_001));
    await producer.enqueue('other', 0);

    await admin.remove({ queue: 'q' });
    await admin.pause({ all: true });

    const { entries } = await admin.audit();
    expect(entries).toMatchObject([
      { verb: 'remove', which: { queue: 'q' }, queue: 'q', count: 1_001, by: null },
      { verb: 'pause', which: { all: true }, queue: null, count: expect.any(Number) as number, by: null },
    ]);
  });

  it('keeps the count of a call that has failed after its first batch', async () => {
    const called: AuditRecord[] = [];
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false, audit: (entry) => called.push(entry) });
    await producer.enqueueMany('q', plainJobs(600));
    const stop = new AbortController();

    const call = admin.cancel({ queue: 'q' }, { signal: stop.signal, onProgress: () => stop.abort() });

    await expect(call).rejects.toThrow(/abort/);
    expect((await admin.audit()).entries).toMatchObject([{ verb: 'cancel', count: 500 }]);
    expect(called).toMatchObject([{ verb: 'cancel', count: 500 }]);
  });

  it('has no entry for a read, a dry run, a call without effect, and a cancellation by a producer', async () => {
    const { admin, producer } = await open(await setup());
    const { id } = await producer.enqueue('q', 0);

    await admin.get(id);
    await admin.queues();
    await admin.remove({ queue: 'q' }, { dryRun: true });
    await admin.release(id);
    await admin.retry(id);
    await producer.cancel(id);

    expect(await admin.audit()).toEqual({ entries: [] });
  });

  it('lists the entries of an author, a verb or a queue, page by page, in both orders', async () => {
    const world = await setup();
    const { admin } = await open(world);
    for (let n = 0; n < 3; n++) {
      for (const by of ['ann', 'bob'])
        for (const queue of ['a', 'b']) await admin.as(by).pause(queue, { create: true });
      world.advance(1_000);
    }
    await admin.as('bob').resume('a');

    const all = await readAll((page) => admin.audit({}, { limit: 5, ...page }));
    const newest = await readAll((page) =>
      admin.audit({ by: 'bob', queue: 'a' }, { limit: 2, order: 'newest', ...page }),
    );

    expect(all).toHaveLength(13);
    expect(all.map(({ at }) => Number(at))).toEqual(all.map(({ at }) => Number(at)).sort((a, b) => a - b));
    expect(newest.map(({ verb, queue, by }) => [verb, queue, by])).toEqual([
      ['resume', 'a', 'bob'],
      ...Array.from({ length: 3 }, () => ['pause', 'a', 'bob']),
    ]);
    expect((await admin.audit({ verb: 'resume' })).entries).toHaveLength(1);
    expect((await admin.audit({ queue: 'b' })).entries).toHaveLength(6);
  });

  it('calls the function of the module, and logs its error without failing the verb', async () => {
    const world = await setup();
    const called = gate<AuditRecord>();
    const { admin, log } = await world.start({
      autoStart: false,
      audit: (entry) => {
        called.open(entry);
        throw new Error('no disk');
      },
    });

    await admin.as('ann').pause('q', { create: true });

    expect(await called.opened).toMatchObject({ verb: 'pause', which: 'q', queue: 'q', by: 'ann', count: 1 });
    await eventually(() => log.includes('error: The function `audit` failed for "pause": Error: no disk'));
  });

  it('passes the queue of a job that a call names by its id to the function of the module', async () => {
    const called: AuditRecord[] = [];
    const { admin, producer } = await (await setup()).start({ autoStart: false, audit: (entry) => called.push(entry) });
    const { id } = await producer.enqueue('q', 0, { delay: '1h' });

    await admin.promote(id);
    await admin.reprioritise(id, 5);
    await admin.cancel(id);
    await admin.remove([id]);

    const { entries } = await admin.audit();
    expect(entries.map(({ verb, queue }) => [verb, queue])).toEqual([
      ['promote', 'q'],
      ['reprioritise', 'q'],
      ['cancel', 'q'],
      ['remove', 'q'],
    ]);
    expect(called.map(({ verb, queue }) => [verb, queue])).toEqual(entries.map(({ verb, queue }) => [verb, queue]));
  });

  it('has no queue if the batches of a call have changed jobs of several queues', async () => {
    const called: AuditRecord[] = [];
    const { admin, producer } = await (await setup()).start({ autoStart: false, audit: (entry) => called.push(entry) });
    await producer.enqueueMany('first', plainJobs(500));
    await producer.enqueueMany('last', plainJobs(100));

    await admin.cancel({ all: true });
    await admin.retry({ all: true }, { limit: 100 });

    const expected = [
      { verb: 'cancel', queue: null, count: 600 },
      { verb: 'retry', queue: 'first', count: 100 },
    ];
    expect((await admin.audit()).entries).toMatchObject(expected);
    expect(called).toMatchObject(expected);
  });

  it('has the entry of a schedule only if the transaction of the caller commits', async () => {
    const world = await setup();
    const called: AuditRecord[] = [];
    const { admin, schedules } = await world.start({ autoStart: false, audit: (entry) => called.push(entry) });
    const upsert = (name: string, fails: boolean) =>
      world.dataSource.transaction(async (manager) => {
        await schedules.upsert(name, { queue: 'q', every: '1h' }, { manager });
        if (fails) throw new Error('roll back');
      });

    await expect(upsert('lost', true)).rejects.toThrow('roll back');
    await upsert('kept', false);

    expect((await admin.audit()).entries).toMatchObject([{ verb: 'schedule.upsert', which: 'kept' }]);
    expect(called).toMatchObject([{ which: 'kept' }]);
  });

  it('rejects an empty author and unknown filters', async () => {
    const { admin } = await open(await setup());

    expect(() => admin.as('')).toThrow('expected the administrator to be a text of 1 to 255 characters, got ""');
    await expect(admin.audit({ verb: 'destroy' as never })).rejects.toThrow("expected verb to be 'cancel'");
    await expect(admin.audit({ who: 'ann' } as never)).rejects.toThrow('unknown option "who"');
  });
});

describeStores('the audit in the store', (setup) => {
  it('keeps an entry for its retention', async () => {
    const { audit, admin, put, advance } = await setup();
    const cancel = async () => {
      const [id] = await put(newJob());
      const entry = {
        id: id!,
        verb: 'cancel',
        queue: undefined,
        by: null,
        details: '{"which":1}',
        count: 0,
        queues: NONE,
      } as const;
      await admin.cancel(id!, () => 0, { audit: entry });
    };
    await cancel();
    advance(DAY);
    await cancel();

    const pruned = [await audit.prune(DAY - 1, 100), await audit.prune(DAY - 1, 100)];

    expect(pruned).toEqual([1, 0]);
    expect((await audit.list({}, { limit: 10, order: 'oldest' })).entries).toHaveLength(1);
  });

  it('shows an entry whose details another program has changed', async () => {
    const { audit, admin, put, sql } = await setup();
    const [id] = await put(newJob());
    const entry = {
      id: 1,
      verb: 'cancel',
      queue: 'q',
      by: null,
      details: '{"which":1}',
      count: 0,
      queues: NONE,
    } as const;
    await admin.cancel(id!, () => 0, { audit: entry });

    await sql(`UPDATE sql_queue_audit SET details = '{'`);

    const { entries } = await audit.list({}, { limit: 10, order: 'oldest' });
    expect(entries).toMatchObject([{ id: 1, which: null, count: 1 }]);
  });
});

function open(world: World) {
  return world.start({ autoStart: false });
}

async function readAll(
  read: (page: { after?: string }) => Promise<{ entries: AuditRecord[]; next?: string }>,
): Promise<AuditRecord[]> {
  const all: AuditRecord[] = [];
  for (let page: { after?: string } = {}; ;) {
    const { entries, next } = await read(page);
    all.push(...entries);
    if (next === undefined) return all;
    page = { after: next };
  }
}
