import { randomBytes, randomUUID } from 'node:crypto';
import { aesGcm } from '../../lib/extras/codecs/aes-gcm.js';
import { toEnvelope } from '../../lib/job/codec/payload-codec.js';
import { describeEngines } from '../support/engines.js';
import { newJob } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';
import { blobsFor } from '../support/test-blobs.js';

const DAY_MS = 86_400_000;
const SUBJECT = { subject: 'user:ada' };
const LONG = { text: 'ada '.repeat(600) };

describeEngines('the erasure of a subject whose job has gone', (setup) => {
  const open = async () => {
    const world = await setup();
    const files = await blobsFor(world);
    const engine = await world.start({
      blobs: { store: files.store, over: '1kb' },
      queues: { q: { retention: { completed: '1h' } }, 'no-history': { retention: { completed: false } } },
      handlers: {
        q: (job) => job.step('step', () => 'ada').then(() => job.payload),
        'no-history': (job) => job.payload,
      },
    });
    return { world, files, ...engine };
  };
  type Opened = Awaited<ReturnType<typeof open>>;

  const ways: [title: string, go: (opened: Opened) => Promise<unknown>][] = [
    [
      'by remove',
      async ({ producer, admin, events }) => {
        const { id } = await producer.enqueue('q', LONG, SUBJECT);
        await events.until('completed');
        await admin.remove(id);
      },
    ],
    [
      'after its retention',
      async ({ world, producer, admin, events }) => {
        await producer.enqueue('q', LONG, SUBJECT);
        await events.until('completed');
        world.advance(2 * 3_600_000);
        await admin.prune();
      },
    ],
    ['with the answer to a request', ({ producer }) => producer.request('q', LONG, { timeout: '30s', ...SUBJECT })],
    [
      'because its queue keeps no history',
      async ({ producer, events }) => {
        await producer.enqueue('no-history', LONG, SUBJECT);
        await events.until('completed');
      },
    ],
  ];

  it.each(ways)('deletes its blobs and its steps, if it has gone %s', async (_way, go) => {
    const opened = await open();
    const { world, files, admin } = opened;
    await go(opened);
    const before = await files.keys();

    const erasure = await admin.erase('user:ada');

    expect(before).toHaveLength(2);
    expect(erasure).toEqual({ erased: 1, active: 0 });
    expect(await files.keys()).toEqual([]);
    expect(await world.sql('SELECT job_id FROM sql_queue_steps')).toEqual([]);
    expect(await world.sql('SELECT job_id FROM sql_queue_subjects')).toEqual([]);
    expect(await admin.erase('user:ada')).toEqual({ erased: 0, active: 0 });
  });

  it('deletes the blobs of payloads that were replaced, and leaves the job about another subject', async () => {
    const { files, producer, admin } = await open();
    const key = { key: 'k', onConflict: 'replace', delay: '1h' } as const;
    await producer.enqueue('q', LONG, { ...key, ...SUBJECT });
    await producer.enqueue('q', LONG, { ...key, ...SUBJECT });
    const { id } = await producer.enqueue('q', LONG, { ...key, subject: 'user:grace' });

    const { erased } = await admin.erase('user:ada');

    expect(erased).toBe(2);
    expect(await files.keys()).toHaveLength(1);
    expect(await admin.get(id)).toMatchObject({ state: 'scheduled', payload: LONG });
  });

  it('deletes the blobs that a rotation of keys has written', async () => {
    const world = await setup();
    const files = await blobsFor(world);
    const blobs = { store: files.store, over: '1kb' } as const;
    const old = { id: 'old', key: randomBytes(32) };
    const current = { id: 'current', key: randomBytes(32) };
    const before = await world.start({ blobs, codec: aesGcm({ keys: [old] }), handlers: { q: (job) => job.payload } });
    await before.producer.flow((f) => f.add('later', 'short', { after: f.add('q', LONG, SUBJECT) }));
    const { jobId } = await before.events.until('completed');
    await before.close();
    const { admin } = await world.start({ blobs, codec: aesGcm({ keys: [current], older: [old] }), autoStart: false });

    const rekeyed = await admin.rekey();
    const written = await files.keys();
    await admin.remove(jobId);
    await admin.erase('user:ada');

    expect(rekeyed).toMatchObject({ active: 0, undecodable: 0 });
    // The payload and the result, and the result for the other job of the flow.
    expect(written).toHaveLength(5);
    expect(await files.keys()).toEqual([]);
  });
});

describeStores('the row of a subject', (setup) => {
  it('stays until the blobs of its job have expired, so that an erasure finds them', async () => {
    const { jobs, admin, subjects, advance, sql } = await setup();
    const rows = () => sql('SELECT job_id FROM sql_queue_subjects');
    const expires = new Date(Date.now() + 90 * DAY_MS).toISOString().slice(0, 10);
    const payload = toEnvelope({ key: '$blob', content: `${expires}/${randomUUID()} ${'h'.repeat(43)}` });
    const ids = await jobs.enqueue([newJob({ payload, subject: 'user:ada' }), newJob({ subject: 'user:ada' })]);
    await admin.remove(ids);

    advance(60 * DAY_MS);
    await subjects.prune(100);
    const kept = await rows();
    advance(32 * DAY_MS);
    await subjects.prune(100);

    expect(kept).toEqual([{ job_id: expect.anything() as unknown }]);
    expect(await rows()).toEqual([]);
  });
});
