import { randomBytes } from 'node:crypto';
import { aesGcm } from '../../lib/extras/codecs/aes-gcm.js';
import { compress } from '../../lib/extras/codecs/compress.js';
import { readEnvelope, toEnvelope, type PayloadCodec } from '../../lib/job/codec/payload-codec.js';
import { ContentUnavailableError } from '../../lib/job/errors.js';
import { buildSchedule } from '../../lib/schedules/build-schedule.js';
import { QueueSettings } from '../../lib/engine/queue-settings.js';
import { ContentCodec } from '../../lib/job/codec/content-codec.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, gate } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { columnsWith } from '../support/stored-text.js';

const SECRET = 'tell-no-one';
const first = { id: 'first', key: randomBytes(32) };
const second = { id: 'second', key: randomBytes(32) };
const codec = [compress({ over: '1kb' }), aesGcm({ keys: [first] })];

const slowly: PayloadCodec = {
  encode: async (text) => toEnvelope({ key: 'slow', content: Buffer.from(text).toString('base64') }),
  decode: async (stored) => Buffer.from(readEnvelope(stored)!.content, 'base64').toString(),
};

describeEngines('a codec', (setup) => {
  it.each([
    ['that encrypts', codec],
    ['that is asynchronous', slowly],
  ])('%s keeps all content of a job out of the tables', async (_, codec) => {
    const world = await setup();
    const retried: unknown[] = [];
    const { producer, admin, events, listenAnywhere } = await world.start({
      codec,
      queues: {
        q: {
          events: true,
          deadLetter: 'dlq',
          retry: { attempts: 2, retryIf: (_error, _attempt, job) => retried.push(job.payload) > 0 },
        },
      },
      handlers: {
        q: async (job: JobContext<{ fails: boolean }>) => {
          job.progress({ at: SECRET });
          job.log(`line ${SECRET}`);
          const step = await job.step('step', () => `step ${SECRET}`);
          if (job.payload.fails) throw new Error(`error ${SECRET}`);
          return { step };
        },
        dlq: (job) => job.payload,
      },
    });
    const anywhere = await listenAnywhere();

    const { id } = await producer.enqueue('q', { fails: false, text: SECRET });
    const { id: deadId } = await producer.enqueue('q', { fails: true, text: SECRET });
    await events.until('completed', { queue: 'dlq' });
    const completed = await anywhere.until('completed', { jobId: id });

    expect(await columnsWith(world, [SECRET])).toEqual([]);
    expect(completed.result).toEqual({ step: `step ${SECRET}` });
    expect(await admin.get(id)).toMatchObject({
      payload: { text: SECRET },
      result: { step: `step ${SECRET}` },
      progress: { at: SECRET },
    });
    expect((await admin.logs(id)).lines).toMatchObject([{ line: `line ${SECRET}` }]);
    const dead = await admin.get(deadId);
    expect(dead).toMatchObject({
      error: { name: 'Error', message: `error ${SECRET}`, stack: expect.stringContaining(SECRET) as unknown },
      errors: [{ message: `error ${SECRET}` }, { message: `error ${SECRET}` }],
    });
    expect(retried).toEqual([{ fails: true, text: SECRET }]);
    expect(events.of('completed', { queue: 'dlq' })[0]).toMatchObject({ result: { fails: true, text: SECRET } });
    expect(events.of('dead', { jobId: deadId })[0]!.error!.message).toBe(`error ${SECRET}`);
    expect(await anywhere.until('dead', { jobId: deadId })).toMatchObject({ error: { message: `error ${SECRET}` } });
    expect((await admin.find({ error: 'Error', state: 'dead' })).jobs).toMatchObject([{ id: deadId }]);
  });

  it('encodes the content of replays, archives, edits and copies', async () => {
    const world = await setup();
    const archive = { to: 'old_jobs' };
    const { producer, admin, events } = await world.start({
      codec,
      archive,
      queues: { q: { retry: 1 } },
      handlers: {
        q: (job) => {
          if (job.attempt === 1 && (job.payload as { dies?: boolean }).dies) throw new Error(SECRET);
          return job.payload;
        },
        other: (job) => job.payload,
      },
    });
    const { id } = await producer.enqueue('q', { dies: true, text: SECRET });
    await events.until('dead', { jobId: id });

    await admin.retry([id], { to: 'other', create: true });
    const copyId = await admin.duplicate(id, { payload: { text: `copy ${SECRET}` } });

    expect(await events.until('completed', { queue: 'other' })).toMatchObject({ result: { text: SECRET } });
    expect(await events.until('completed', { jobId: copyId! })).toMatchObject({ result: { text: `copy ${SECRET}` } });
    world.advance(31 * 86_400_000);
    await admin.prune();
    expect(await world.sql('SELECT id FROM old_jobs')).toHaveLength(2);
    expect(await columnsWith(world, [SECRET], ['old_jobs'])).toEqual([]);
  });

  it('encodes the results and errors that flows pass on, and signals', async () => {
    const world = await setup();
    const { producer, events } = await world.start({
      codec,
      queues: { broken: { retry: 1 } },
      handlers: {
        part: (job) => ({ part: job.payload }),
        broken: () => Promise.reject(new Error(`broken ${SECRET}`)),
        sum: async (job) => {
          const children: unknown[] = [];
          for await (const { result, error } of job.children()) children.push(result ?? error!.message);
          const signal = await job.waitFor('approved', { key: '7' });
          return { children, signal };
        },
      },
    });

    const flow = await producer.flow((f) => {
      const part = f.add('part', SECRET);
      const broken = f.add('broken', SECRET);
      f.add('sum', null).after(part).after(broken, { onFailure: 'run' });
    });
    await events.until('snoozed', { queue: 'sum' });
    await producer.signal('approved', '7', { by: SECRET });
    const { result } = await events.until('completed', { jobId: flow.jobs[2]!.id });

    expect(result).toEqual({ children: [{ part: SECRET }, `broken ${SECRET}`], signal: { by: SECRET } });
    expect(await columnsWith(world, [SECRET])).toEqual([]);
  });

  it('encodes the payloads of schedules, and leaves an unchanged declaration as it is', async () => {
    const world = await setup();
    const settings = new QueueSettings({}, new ContentCodec(codec));
    const declare = () =>
      buildSchedule('nightly', { queue: 'q', name: 'default' }, { every: '1h', payload: { text: SECRET } }, (queue) =>
        settings.of(queue),
      );
    const start = async () =>
      world.start({
        codec,
        declaredSchedules: [await declare()],
        revision: '1',
        handlers: { q: (job) => job.payload },
      });
    const stored = () => world.sql<{ payload: string }>(`SELECT payload FROM sql_queue_schedules`);

    const { close } = await start();
    const [before] = await eventually(async () => (await stored()).length === 1 && stored());
    await close();
    const { schedules, events } = await start();
    await schedules.runNow('nightly');

    expect(await events.until('completed')).toMatchObject({ result: { text: SECRET } });
    expect(await stored()).toEqual([before]);
    expect(await schedules.get('nightly')).toMatchObject({ payload: { text: SECRET } });
    expect(await columnsWith(world, [SECRET])).toEqual([]);
  });

  it('gives people decoded payloads, and encodes their results and errors', async () => {
    const world = await setup();
    const { producer, consumer, admin, events } = await world.start({
      codec,
      handlers: {},
      queues: { q: { retry: 1 } },
    });
    await producer.enqueueMany('q', [{ payload: { text: SECRET } }, { payload: { text: SECRET } }]);

    const [one, two] = await consumer.claim('q', { owner: 'ann', limit: 2 });
    const { jobs } = await consumer.assigned('ann');
    await consumer.complete(one!.id, { owner: 'ann', result: { text: SECRET } });
    await consumer.fail(two!.id, { owner: 'ann', error: `no ${SECRET}` });

    expect([one!.payload, jobs[0]!.payload]).toEqual([{ text: SECRET }, { text: SECRET }]);
    expect(await admin.get(one!.id)).toMatchObject({ result: { text: SECRET } });
    expect(await admin.get(two!.id)).toMatchObject({ error: { message: `no ${SECRET}` } });
    expect(events.of('dead')[0]!.error!.message).toBe(`no ${SECRET}`);
    expect(await columnsWith(world, [SECRET])).toEqual([]);
  });

  it('gives a waiting caller the decoded progress, result and error', async () => {
    const world = await setup();
    const progress: unknown[] = [];
    const { producer } = await world.start({
      codec,
      queues: { bad: { retry: 1 } },
      handlers: {
        q: (job) => {
          job.progress(SECRET);
          return { text: SECRET };
        },
        bad: () => Promise.reject(new Error(SECRET)),
      },
    });

    const result = await producer.request('q', {}, { onProgress: (value: unknown) => void progress.push(value) });

    expect(result).toEqual({ text: SECRET });
    expect(progress.every((value) => value === SECRET)).toBe(true);
    await expect(producer.request('bad', {})).rejects.toMatchObject({ error: { message: SECRET } });
  });
});

describeEngines('a job that a worker cannot decode', (setup) => {
  const undecodable = async (change: (stored: string) => string) => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      codec: aesGcm({ keys: [first] }),
      handlers: { q: (job) => job.payload },
      autoStart: false,
    });
    const { id } = await producer.enqueue('q', { text: SECRET });
    const { id: fine } = await producer.enqueue('q', 'fine');
    const [row] = await world.sql<{ payload: string }>(`SELECT payload FROM sql_queue_jobs WHERE id = ${id}`);
    const changed = change(row!.payload);
    await world.sql(`UPDATE sql_queue_jobs SET payload = '${changed}' WHERE id = ${id}`);
    return { world, admin, events, id, fine, changed };
  };

  it.each<[string, (stored: string) => string]>([
    ['because its key is unknown', (stored) => stored.replace(':first', ':lost')],
    ['because it was changed', (stored) => stored.replace(/.{8}"\}$/, 'AAAAAAA="}')],
    ['because it has the envelope of another codec', () => toEnvelope({ key: 'kms:1', content: 'x' })],
  ])('%s is dead with its stored payload, and harms no other job', async (_, change) => {
    const { world, admin, id, fine, changed } = await undecodable(change);
    const { events } = await world.start({ codec: aesGcm({ keys: [first] }), handlers: { q: (job) => job.payload } });

    expect(await events.until('dead')).toMatchObject({ jobId: id, error: { code: 'UNDECODABLE_CONTENT' } });
    expect(await events.until('completed')).toMatchObject({ jobId: fine });
    const [row] = await world.sql<{ payload: string }>(`SELECT payload FROM sql_queue_history WHERE id = ${id}`);
    expect(row!.payload).toBe(changed);
    expect((await admin.find({ state: 'dead' })).jobs).toMatchObject([
      { id, payload: { $undecodable: expect.stringContaining('Cannot decode the payload') as unknown } },
    ]);
  });

  it('because its own key is older runs after a retry by a worker with the new key', async () => {
    const world = await setup();
    const { producer } = await world.start({ codec: aesGcm({ keys: [second], older: [first] }), autoStart: false });
    const old = await world.start({ codec: aesGcm({ keys: [first] }), handlers: { q: (job) => job.payload } });
    const { id } = await producer.enqueue('q', { text: SECRET });
    await old.events.until('dead', { jobId: id });
    await old.close();

    const { events, admin } = await world.start({
      codec: aesGcm({ keys: [second], older: [first] }),
      handlers: { q: (job) => job.payload },
    });
    await admin.retry([id]);

    expect(await events.until('completed')).toMatchObject({ jobId: id, result: { text: SECRET } });
  });

  it('because the process has no codec is dead', async () => {
    const { world, id } = await undecodable((stored) => stored);
    const { events } = await world.start({ handlers: { q: (job) => job.payload } });

    expect(await events.until('dead')).toMatchObject({ jobId: id, error: { code: 'UNDECODABLE_CONTENT' } });
  });

  it('is dead when a person claims it', async () => {
    const { world, id, fine } = await undecodable((stored) => stored.replace(':first', ':lost'));
    const { consumer, admin } = await world.start({ codec: aesGcm({ keys: [first] }), handlers: {} });

    const claimed = await consumer.claim('q', { owner: 'ann', limit: 2 });

    expect(claimed.map((job) => job.id)).toEqual([fine]);
    expect(await admin.get(id)).toMatchObject({ state: 'dead', error: { code: 'UNDECODABLE_CONTENT' } });
  });

  it('because a service is down runs later, without a counted attempt', async () => {
    const world = await setup();
    let isDown = true;
    const kms: PayloadCodec = {
      encode: (text) => toEnvelope({ key: 'kms', content: text }),
      decode: async (stored) => {
        if (isDown) throw new ContentUnavailableError('no answer', 1_000);
        return readEnvelope(stored)!.content;
      },
    };
    const { producer, consumer, events, log } = await world.start({
      codec: kms,
      handlers: { q: (job) => job.attempt },
      queues: { q: { retry: 1 } },
    });
    await producer.enqueue('people', 1);
    await expect(consumer.claim('people', { owner: 'ann' })).rejects.toMatchObject({ code: 'CONTENT_UNAVAILABLE' });
    await producer.enqueue('q', 1);
    await events.until('snoozed', { queue: 'q' });
    isDown = false;
    world.advance(2_000);

    expect(await events.until('completed')).toMatchObject({ result: 1 });
    expect(await consumer.claim('people', { owner: 'ann' })).toMatchObject([{ payload: 1, attempt: 1 }]);
    expect(log.filter((line) => /^(warn|log): .*service of the codec/.test(line))).toEqual([
      'warn: Jobs wait for a service of the codec: no answer',
      'log: The service of the codec works again',
    ]);
  });
});

describeEngines('a plain payload of another program', (setup) => {
  it.each([
    [false, 'completed'],
    [true, 'dead'],
  ] as const)('with require: %s is %s', async (require, event) => {
    const world = await setup();
    await world.start({ autoStart: false });
    await world.sql(`INSERT INTO sql_queue_jobs (queue, payload) VALUES ('q', '{"a":1}')`);
    const ran = gate<unknown>();
    const { events } = await world.start({
      codec: aesGcm({ keys: [first], require }),
      handlers: { q: (job) => ran.open(job.payload) },
    });

    await events.until(event);

    if (!require) expect(await ran.opened).toEqual({ a: 1 });
  });
});
