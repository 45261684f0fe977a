import { randomBytes } from 'node:crypto';
import { aesGcm } from '../../lib/extras/codecs/aes-gcm.js';
import { compress } from '../../lib/extras/codecs/compress.js';
import { describeEngines, gate, type World } from '../support/engines.js';
import { columnsWith } from '../support/stored-text.js';

const SECRET = 'tell-no-one';
const old = { id: 'old', key: randomBytes(32) };
const current = { id: 'current', key: randomBytes(32) };
const ARCHIVE = { to: 'old_jobs' };
const OLD_KEY = 'aes-256-gcm:old';

/** An engine that writes with the old key, and then content in every table. */
async function fillTables(world: World) {
  const engine = await world.start({
    codec: aesGcm({ keys: [old] }),
    archive: ARCHIVE,
    queues: { q: { retry: { attempts: 2, backoff: '1h' } }, bad: { retry: 1 } },
    handlers: {
      q: async (job) => {
        job.progress(SECRET);
        job.log(SECRET);
        await job.step('step', () => SECRET);
        const signal = await job.waitFor('signal', { key: String(job.id) });
        throw new Error(`${String(signal)} ${SECRET}`);
      },
      bad: () => Promise.reject(new Error(SECRET)),
      part: (job) => job.payload,
      parent: (job) => job.fanOut('part', [SECRET]).then(() => job.snooze('1h')),
    },
  });
  const { producer, events, schedules, admin } = engine;
  await producer.enqueue('bad', SECRET);
  await events.until('dead');
  world.advance(31 * 86_400_000);
  await admin.prune();
  const { id } = await producer.enqueue('q', { text: SECRET });
  await events.until('snoozed', { jobId: id });
  await producer.signal('signal', String(id), SECRET);
  await events.until('failed', { jobId: id });
  await producer.enqueue('bad', { text: SECRET });
  await events.untilCount(2, 'dead');
  await producer.enqueue('parent', SECRET);
  await events.until('snoozed', { queue: 'parent' });
  await schedules.upsert('nightly', { queue: 'q', every: '1d', payload: { text: SECRET } });
  await engine.close();
  return id;
}

describeEngines('rekey', (setup) => {
  const rotated = aesGcm({ keys: [current], older: [old] });

  it('encodes all content with the newest key, so that the old one is not needed', async () => {
    const world = await setup();
    const id = await fillTables(world);
    const before = await columnsWith(world, [OLD_KEY], ['old_jobs']);
    const { admin } = await world.start({ codec: rotated, archive: ARCHIVE, autoStart: false });

    const { rekeyed: planned } = await admin.rekey({ dryRun: true });
    const progress: number[] = [];
    const result = await admin.rekey({ onProgress: (rows) => progress.push(rows) });

    expect(before).toEqual(
      expect.arrayContaining(
        ['jobs.payload', 'jobs.error', 'history.payload', 'history.result', 'history.error', 'old_jobs.error']
          .concat(['progress.value', 'logs.line', 'steps.result', 'signals.data', 'edges.result', 'schedules.payload'])
          .sort(),
      ),
    );
    expect(result).toEqual({ rekeyed: planned, active: 0, undecodable: 0 });
    expect(progress.at(-1)).toBe(planned);
    expect(await admin.rekey()).toEqual({ rekeyed: 0, active: 0, undecodable: 0 });
    expect(await columnsWith(world, [OLD_KEY, SECRET], ['old_jobs'])).toEqual([]);
    const after = await world.start({ codec: aesGcm({ keys: [current] }), archive: ARCHIVE, autoStart: false });
    expect(await after.admin.get(id)).toMatchObject({
      payload: { text: SECRET },
      progress: SECRET,
      error: { name: 'Error', message: `${SECRET} ${SECRET}` },
    });
    expect((await after.admin.logs(id)).lines).toMatchObject([{ line: SECRET }, { line: SECRET }]);
  });

  it('goes on after a limit, and may stop between batches', async () => {
    const world = await setup();
    const { producer } = await world.start({ codec: aesGcm({ keys: [old] }), autoStart: false });
    await producer.enqueueMany(
      'q',
      Array.from({ length: 120 }, () => ({ payload: SECRET })),
    );
    const { admin } = await world.start({ codec: [compress(), rotated], autoStart: false });
    const stop = new AbortController();

    expect(await admin.rekey({ limit: 30 })).toMatchObject({ rekeyed: 30 });
    await expect(admin.rekey({ onProgress: () => stop.abort(), signal: stop.signal })).rejects.toThrow(/abort/);
    const { rekeyed } = await admin.rekey();

    expect(rekeyed).toBeGreaterThan(0);
    expect(rekeyed).toBeLessThan(90);
    expect(await columnsWith(world, [OLD_KEY])).toEqual([]);
  });

  it('counts active jobs and undecodable content, and leaves both as they are', async () => {
    const world = await setup();
    const [running, go] = [gate(), gate()];
    const first = await world.start({
      codec: aesGcm({ keys: [old] }),
      handlers: {
        q: async () => {
          running.open();
          await go.opened;
        },
      },
    });
    await first.producer.enqueue('q', SECRET);
    await running.opened;
    const lost = aesGcm({ keys: [{ id: 'lost', key: randomBytes(32) }] });
    await (await world.start({ codec: lost, autoStart: false })).producer.enqueue('other', SECRET);
    const { admin } = await world.start({ codec: rotated, autoStart: false });

    expect(await admin.rekey()).toEqual({ rekeyed: 0, active: 1, undecodable: 1 });
    go.open();
    await first.events.until('completed');
    expect(await admin.rekey()).toEqual({ rekeyed: 1, active: 0, undecodable: 1 });
  });

  it('encodes plain payloads, and rejects without a codec', async () => {
    const world = await setup();
    const plain = await world.start({ autoStart: false });
    const { id } = await plain.producer.enqueue('q', { text: SECRET });
    const { admin } = await world.start({ codec: rotated, autoStart: false });

    await admin.rekey();

    expect(await columnsWith(world, [SECRET])).toEqual([]);
    expect(await admin.get(id)).toMatchObject({ payload: { text: SECRET } });
    await expect(plain.admin.rekey()).rejects.toThrow(/expected the module option `codec`, got none/);
  });
});
