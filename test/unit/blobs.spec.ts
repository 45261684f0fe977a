import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aesGcm } from '../../lib/extras/codecs/aes-gcm.js';
import type { BlobOptions, BlobStore } from '../../lib/job/codec/blob-options.js';
import { Blobs } from '../../lib/job/codec/blobs.js';
import { ContentCodec } from '../../lib/job/codec/content-codec.js';
import { fileBlobs } from '../../lib/extras/codecs/file-blobs.js';
import { toEnvelope, type PayloadCodec } from '../../lib/job/codec/payload-codec.js';
import { QueueSettings } from '../../lib/engine/queue-settings.js';
import { ENGINE_OPTIONS } from '../../lib/engine/engine-options.js';
import { optionProblems } from '../../lib/job/option-schema.js';
import { FakeClock } from '../support/fake-clock.js';
import { blobsFor } from '../support/test-blobs.js';

const PAYLOAD = { what: 'payload' } as const;
const LONG = JSON.stringify('x'.repeat(100));
const KEY = '2027-02-23/4f0c1a3e-0000-4000-8000-000000000000';
const never = { signal: new AbortController().signal };
const expires = new Date('2027-02-23');
const SILENT = { onFailure: () => {}, onSuccess: () => {} };

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const open = () => blobsFor({ afterTest: (cleanup) => void cleanups.push(cleanup) });

function codecWith(options: BlobOptions, codecs: PayloadCodec[] = [], clock = new FakeClock()) {
  return new ContentCodec(codecs, SILENT, new Blobs({ over: 10, ...options }, clock, SILENT));
}

describe('fileBlobs', () => {
  it('reads and deletes its blobs, and leaves no incomplete file', async () => {
    const { store, keys } = await open();

    await store.put(KEY, Buffer.from('one'), { ...never, expires });

    expect(Buffer.from((await store.get(KEY, never))!).toString()).toBe('one');
    expect(await keys()).toEqual([KEY]);
    await store.delete!(KEY, never);
    await store.delete!(KEY, never);
    expect(await store.get(KEY, never)).toBeUndefined();
    expect(await keys()).toEqual([]);
  });

  it.each(['../x', '2027-02-23/../../x', '/etc/passwd', '2027-02-23', `${KEY}/x`, `${KEY}\0`, ''])(
    'rejects the key %j',
    async (key) => {
      const { store } = await open();

      await expect(store.put(key, Buffer.from('x'), { ...never, expires })).rejects.toThrow('expected a key of a blob');
      await expect(store.get(key, never)).rejects.toThrow('expected a key of a blob');
      await expect(store.delete!(key, never)).rejects.toThrow('expected a key of a blob');
    },
  );

  it('rejects while its folder is missing, and does not create it', async () => {
    const { store, folder, takeAway } = await open();
    await takeAway();

    await expect(store.put(KEY, Buffer.from('x'), { ...never, expires })).rejects.toThrow('ENOENT');
    await expect(store.get(KEY, never)).rejects.toThrow('ENOENT');
    await expect(store.delete!(KEY, never)).rejects.toThrow('ENOENT');
    await expect(readdir(folder)).rejects.toThrow('ENOENT');
  });

  it('lists the blobs whose day of expiry is over, and deletes incomplete files and empty folders of these days', async () => {
    const { store, folder, keys, expiredAt } = await open();
    const other = KEY.replace('02-23', '02-24');
    for (const key of [KEY, other]) await store.put(key, Buffer.from('x'), { ...never, expires });
    await writeFile(join(folder, KEY.slice(0, 10), 'left.partial'), 'x');
    await mkdir(join(folder, 'mine'));
    await utimes(join(folder, 'mine'), 0, 0);

    const before = await expiredAt(new Date('2027-02-23T23:59:59Z'));
    const kept = await keys();
    const expired: string[] = [];
    for await (const key of store.expired!(new Date('2027-02-24T00:00:00Z'), never)) {
      expired.push(key);
      await store.delete!(key, never);
    }

    expect(before).toEqual([]);
    expect(kept).toHaveLength(3);
    expect(expired).toEqual([KEY]);
    expect(await keys()).toEqual([other]);
    expect((await readdir(folder)).sort()).toEqual(['2027-02-24', 'mine']);
  });

  it('lists no blob of a day that another worker has deleted meanwhile', async () => {
    const { store, folder } = await open();
    const before = new Date('2027-02-24T00:00:00Z');
    for (const day of ['02-21', '02-22', '02-23'])
      await store.put(KEY.replace('02-23', day), Buffer.from('x'), { ...never, expires });

    const late = store.expired!(before, never)[Symbol.asyncIterator]();
    const first = await late.next();
    for await (const key of store.expired!(before, never)) await store.delete!(key, never);
    const rest = await late.next();

    expect([first.done, rest.done]).toEqual([false, true]);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each<[unknown, RegExp]>([
    [{ folder: 'relative' }, /expected folder to be an absolute path, got "relative"/],
    [{}, /expected folder to be an absolute path/],
    [{ folder: '/tmp', path: 1 }, /unknown option "path"/],
    [undefined, /expected options to be an object/],
  ])('rejects the options %j', (options, message) => {
    expect(() => fileBlobs(options as never)).toThrow(message);
  });
});

describe('a codec with blobs', () => {
  it('returns no promise for short texts, and for content other than payloads and results', async () => {
    const { store } = await open();
    const codec = codecWith({ store });

    expect(codec.encode('"x"', PAYLOAD)).toBe('"x"');
    expect(codec.encode(LONG, { what: 'step' })).toBe(LONG);
    expect(codec.encode(LONG, { what: 'error' })).toBe(LONG);
    expect(codec.inline.encode(LONG, PAYLOAD)).toBe(LONG);
    expect(await codec.decode(await codec.encode(LONG, PAYLOAD), PAYLOAD)).toBe(LONG);
  });

  it('rejects a text over maxSize', async () => {
    const { store, keys } = await open();

    const encoding = codecWith({ store, maxSize: 50 }).encode(LONG, PAYLOAD);

    await expect(encoding).rejects.toMatchObject({
      code: 'UNENCODABLE_CONTENT',
      message: 'Cannot encode the payload of a job: expected at most 50 bytes (blobs.maxSize), got 102',
    });
    expect(await keys()).toEqual([]);
  });

  it('rejects a blob that was changed or that is gone', async () => {
    const { store, folder, keys } = await open();
    const codec = codecWith({ store });
    const stored = await codec.encode(LONG, PAYLOAD);
    const [key] = await keys();

    await writeFile(join(folder, key!), LONG.toUpperCase());
    await expect(codec.decode(stored, PAYLOAD)).rejects.toMatchObject({
      code: 'UNDECODABLE_CONTENT',
      message: expect.stringContaining('was changed') as unknown,
    });
    await rm(join(folder, key!));
    await expect(codec.decode(stored, PAYLOAD)).rejects.toThrow('is gone');
  });

  it.each(['', '../../etc/passwd x', `${KEY} short`, `${KEY} ${'a'.repeat(43)} `])(
    'never asks the store for the damaged reference %j',
    async (content) => {
      const asked: string[] = [];
      const store: BlobStore = {
        put: () => Promise.resolve(),
        get: (key) => Promise.resolve(void asked.push(key)),
        delete: (key) => Promise.resolve(void asked.push(key)),
      };
      const codec = codecWith({ store });
      const reference = toEnvelope({ key: '$blob', content });

      await expect(codec.decode(reference, PAYLOAD)).rejects.toThrow('the reference to its blob is damaged');
      await codec.blobs!.delete([reference]);

      expect(asked).toEqual([]);
    },
  );

  it.each<[string, BlobStore['get'], RegExp]>([
    ['rejects', () => Promise.reject(new Error('refused')), /cannot read a blob: refused$/],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      /cannot read a blob: broken$/,
    ],
    ['returns a text', () => Promise.resolve('x' as never), /expected bytes or undefined, got "x"$/],
    ['returns null', () => Promise.resolve(null as never), /expected bytes or undefined, got null$/],
  ])('calls a store that %s unavailable', async (_, get, message) => {
    const { store } = await open();
    const stored = await codecWith({ store }).encode(LONG, PAYLOAD);

    const decoding = codecWith({ store: { put: () => Promise.resolve(), get } }).decode(stored, PAYLOAD);

    await expect(decoding).rejects.toMatchObject({ code: 'CONTENT_UNAVAILABLE', retryInMs: 10_000 });
    await expect(decoding).rejects.toThrow(message);
  });

  it('gives up a call after the timeout, and aborts it', async () => {
    const clock = new FakeClock();
    let given: AbortSignal | undefined;
    const store: BlobStore = {
      put: (_key, _body, { signal }) => {
        given = signal;
        return new Promise(() => {});
      },
      get: () => Promise.resolve(undefined),
    };

    const encoding = codecWith({ store, timeout: '5s' }, [], clock).encode(LONG, PAYLOAD);
    const failed = expect(encoding).rejects.toThrow('The blob store cannot store a payload: no answer within 5000 ms');
    await clock.untilSleeping(5_000);
    await clock.advance(5_000);
    await failed;

    expect(given!.aborted).toBe(true);
  });

  it('refuses plain payloads in blobs and escaped ones, if a codec requires encoded ones', async () => {
    const { store } = await open();
    const plain = await codecWith({ store }).encode(LONG, PAYLOAD);
    const escaped = toEnvelope({ key: 'plain', content: '{"a":1}' });
    const escapedBlob = await codecWith({ store }).encode(escaped, PAYLOAD);
    const strict = codecWith({ store }, [aesGcm({ keys: [{ id: 'k', key: Buffer.alloc(32) }], require: true })]);

    for (const stored of [plain, escapedBlob]) {
      await expect(strict.decode(stored, PAYLOAD)).rejects.toThrow('has `require: true`, got plain content');
    }
    expect(() => strict.decode(escaped, PAYLOAD)).toThrow('has `require: true`, got plain content');
    expect(await strict.decode(await strict.encode(escaped, PAYLOAD), PAYLOAD)).toBe(escaped);
  });

  it('rejects references of another codec', async () => {
    const forging: PayloadCodec = {
      encode: () => toEnvelope({ key: '$blob', content: `${KEY} ${'a'.repeat(43)}` }),
      decode: (stored) => stored,
    };
    const { store } = await open();

    expect(() => codecWith({ store }, [forging]).encode('"x"', PAYLOAD)).toThrow('expected the codec to return');
  });

  it('deletes expired blobs that no row needs once an hour, by the clock of the database', async () => {
    const clock = new FakeClock();
    const calls: Date[] = [];
    const needed = `${KEY} ${'a'.repeat(43)}`;
    const deleted: string[] = [];
    const store: BlobStore = {
      put: () => Promise.resolve(),
      get: () => Promise.resolve(undefined),
      delete: (key) => Promise.resolve(void deleted.push(key)),
      async *expired(before) {
        calls.push(before);
        yield* [KEY, KEY.replace('4f0c', '5f0c')];
      },
    };
    const blobs = new Blobs({ store }, clock, SILENT);
    const asked: string[] = [];
    blobs.useRows({
      readTime: () => Promise.resolve(Date.parse('2027-03-01T12:00Z')),
      referencesUntil: (day) => {
        asked.push(day);
        return Promise.resolve([toEnvelope({ key: '$blob', content: needed })]);
      },
    });

    await blobs.prune();
    await blobs.prune();
    await clock.advance(3_600_000);
    await blobs.prune();

    expect(calls).toEqual([new Date('2027-03-01T12:00Z'), new Date('2027-03-01T12:00Z')]);
    expect(asked).toEqual(['2027-03-01', '2027-03-01']);
    expect(deleted).toEqual(Array(2).fill(KEY.replace('4f0c', '5f0c')));
  });

  it('reads no rows if no blob has expired', async () => {
    const { store } = await open();
    const blobs = new Blobs({ store }, new FakeClock(), SILENT);
    const referencesUntil = () => Promise.reject(new Error('read rows'));
    blobs.useRows({ readTime: () => Promise.resolve(Date.now()), referencesUntil });

    await expect(blobs.prune()).resolves.toBeUndefined();
  });
});

describe('the option blobs', () => {
  const problemsOf = (blobs: unknown) => optionProblems(ENGINE_OPTIONS, { blobs });

  it('reports all its problems, without the store', () => {
    expect(problemsOf({ store: { put: 1, secret: 's' }, over: 'big', keep: '1s', timeout: 0, ower: 1 })).toEqual([
      'expected blobs.store to be an object with the methods put and get, got object',
      'unknown option "ower", did you mean "over"?',
      expect.stringMatching(/^expected blobs.over to be a size .* got "big"$/),
      expect.stringMatching(/^expected blobs.keep to be a duration .* from 1h, got "1s"$/),
      expect.stringMatching(/^expected blobs.timeout to be a duration .* above 0, got 0$/),
    ]);
    expect(problemsOf(5)).toEqual([expect.stringMatching(/^expected blobs to be options .* got number$/)]);
    expect(problemsOf({})).toEqual([
      'expected blobs.store to be an object with the methods put and get, got undefined',
    ]);
  });

  it('must keep blobs for as long as the history keeps jobs', async () => {
    const { store } = await open();
    const settings = (retention: object, keep: BlobOptions['keep']) =>
      new QueueSettings({ queues: { 'mail.*': { retention } } }, codecWith({ store, keep: keep! }));

    expect(settings({ dead: '100d' }, '100d').blobProblems()).toEqual([]);
    expect(settings({ dead: '100d' }, '99d').blobProblems()).toEqual([
      'expected blobs.keep to be at least the longest retention of a queue, 8640000000 ms, got 8553600000 ms',
    ]);
    expect(settings({ completed: false, dead: false }, '1d').blobProblems()).toHaveLength(1);
    expect(new QueueSettings({}).blobProblems()).toEqual([]);
  });
});
