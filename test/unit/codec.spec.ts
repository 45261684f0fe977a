import { randomBytes } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { aesGcm, type AesGcmOptions } from '../../lib/extras/codecs/aes-gcm.js';
import { compress } from '../../lib/extras/codecs/compress.js';
import { ContentCodec } from '../../lib/job/codec/content-codec.js';
import { decodeWith, buildJob } from '../../lib/job/job-content.js';
import { isEnvelope, readEnvelope, toEnvelope, type PayloadCodec } from '../../lib/job/codec/payload-codec.js';
import { ContentUnavailableError } from '../../lib/job/errors.js';
import { resolveQueueOptions } from '../../lib/job/queue-options.js';

const PAYLOAD = { what: 'payload' } as const;
const one = { id: 'one', key: randomBytes(32) };
const two = { id: 'two', key: randomBytes(32).toString('base64') };

const codecOf = (...codecs: PayloadCodec[]) => new ContentCodec(codecs);

describe('aesGcm', () => {
  it('returns an envelope that names the key and hides the text', () => {
    const codec = codecOf(aesGcm({ keys: [one] }));

    const stored = codec.encode('{"to":"ada"}', PAYLOAD) as string;

    expect(stored).toMatch(/^\{"\$sql-queue":1,"k":"aes-256-gcm:one","d":"[\w+/=]+"\}$/);
    expect(codec.decode(stored, { what: 'payload', queue: 'another' })).toBe('{"to":"ada"}');
    expect(codec.encode('{"to":"ada"}', PAYLOAD)).not.toBe(stored);
  });

  it('encrypts with the first key, and decrypts with all', () => {
    const before = codecOf(aesGcm({ keys: [one] })).encode('"x"', PAYLOAD) as string;
    const rotated = codecOf(aesGcm({ keys: [two], older: [one] }));

    expect(rotated.decode(before, PAYLOAD)).toBe('"x"');
    expect(readEnvelope(rotated.encode('"x"', PAYLOAD) as string)?.key).toBe('aes-256-gcm:two');
    expect([before, rotated.encode('"x"', PAYLOAD) as string].map((text) => rotated.isCurrent(text))).toEqual([
      false,
      true,
    ]);
  });

  it.each<[string, (stored: string) => string, RegExp]>([
    [
      'an unknown key',
      (stored) => stored.replace(':one', ':old'),
      /no such key \(known: one\) \(key "aes-256-gcm:old"\)/,
    ],
    ['changed bytes', (stored) => stored.replace(/.{8}"\}$/, 'AAAAAAA="}'), /it was changed/],
    ['too few bytes', (stored) => stored.replace(/"d":".*"/, '"d":"AAAA"'), /its envelope is damaged/],
    ['a damaged envelope', (stored) => stored.slice(0, -1), /its envelope is damaged/],
  ])('rejects %s', (_, change, message) => {
    const codec = codecOf(aesGcm({ keys: [one] }));
    const stored = codec.encode('"x"', PAYLOAD) as string;

    const decode = () => codec.decode(change(stored), PAYLOAD);

    expect(decode).toThrow(message);
    expect(decode).toThrow(expect.objectContaining({ code: 'UNDECODABLE_CONTENT', what: 'payload' }));
  });

  it('does not decode a payload as a result', () => {
    const codec = codecOf(aesGcm({ keys: [one] }));
    const stored = codec.encode('"x"', PAYLOAD) as string;

    expect(() => codec.decode(stored, { what: 'result' })).toThrow(/it was changed/);
  });

  it('decodes plain payloads, unless it requires encryption', () => {
    expect(codecOf(aesGcm({ keys: [one] })).decode('{"a":1}', PAYLOAD)).toBe('{"a":1}');
    const strict = codecOf(compress({ over: 0 }), aesGcm({ keys: [one], require: true }));
    const compressed = codecOf(compress({ over: 0 })).encode('x'.repeat(500), PAYLOAD) as string;

    // As a program that knows the format could write it.
    const escaped = toEnvelope({ key: 'plain', content: '{"a":1}' });

    expect(() => strict.decode('{"a":1}', PAYLOAD)).toThrow(/expected an envelope/);
    expect(() => strict.decode(escaped, PAYLOAD)).toThrow(/expected an envelope/);
    expect(strict.decode(strict.encode(escaped, PAYLOAD) as string, PAYLOAD)).toBe(escaped);
    expect(() => strict.decode(compressed, PAYLOAD)).toThrow(/it is not encrypted/);
    expect(strict.decode('plain error', { what: 'error' })).toBe('plain error');
  });

  it('reports all problems of its options, without the keys', () => {
    const options = {
      keys: [
        { id: 'a b', key: 'secret' },
        { id: 'x', key: 7 },
      ],
      older: [one, one],
      also: true,
    };

    const create = () => aesGcm(options as unknown as AesGcmOptions);

    expect(create).toThrow(
      /unknown option "also".*\n.*keys\[0\]\.id.*\n.*keys\[0\]\.key to be 32 bytes.*\n.*keys\[1\]\.key/s,
    );
    expect(create).toThrow(/each id once in keys and older, got "one"/);
    expect(create).not.toThrow(/secret/);
    expect(() => aesGcm({ keys: [] })).toThrow(/keys to be a list of at least one key/);
  });
});

describe('compress', () => {
  it.each(['gzip', 'brotli'] as const)(
    'shortens long texts with %s, and leaves short ones as they are',
    (algorithm) => {
      const codec = codecOf(compress({ over: '1kb', algorithm }));
      const long = JSON.stringify('é'.repeat(2_000));

      const stored = codec.encode(long, PAYLOAD) as string;

      expect(readEnvelope(stored)?.key).toBe(algorithm);
      expect(stored.length).toBeLessThan(200);
      expect(codec.decode(stored, PAYLOAD)).toBe(long);
      expect(codec.encode('"short"', PAYLOAD)).toBe('"short"');
    },
  );

  it('leaves texts as they are that it cannot shorten', () => {
    const random = JSON.stringify(randomBytes(3_000).toString('base64'));

    expect(codecOf(compress({ over: 0 })).encode(random, PAYLOAD)).toBe(random);
  });

  it('decodes together with encryption, in whatever order the content was encoded before', () => {
    const text = JSON.stringify('x'.repeat(10_000));
    const codec = codecOf(compress(), aesGcm({ keys: [one] }));
    const stored = codec.encode(text, PAYLOAD) as string;

    expect(stored.length).toBeLessThan(500);
    expect(codec.decode(stored, PAYLOAD)).toBe(text);
    expect(codec.decode(codecOf(compress()).encode(text, PAYLOAD) as string, PAYLOAD)).toBe(text);
    expect(codec.decode(codecOf(aesGcm({ keys: [one] })).encode(text, PAYLOAD) as string, PAYLOAD)).toBe(text);
  });

  it('rejects a text that becomes too large', () => {
    const stored = codecOf(compress({ over: 0 })).encode('x'.repeat(100_000), PAYLOAD) as string;

    expect(() => codecOf(compress({ maxSize: '50kb' })).decode(stored, PAYLOAD)).toThrow(
      expect.objectContaining({ code: 'UNDECODABLE_CONTENT' }),
    );
  });

  it('rejects unknown options', () => {
    expect(() => compress({ over: 'much' as never, algorithm: 'zip' as never })).toThrow(
      /over to be a size.*\n.*algorithm to be 'gzip', 'brotli' or 'zstd'/s,
    );
  });
});

describe('the codecs of a module', () => {
  it('encode content that looks like an envelope, so that it stays content', () => {
    const forged = toEnvelope({ key: 'aes-256-gcm:one', content: 'AAAA' });
    for (const codec of [codecOf(compress()), codecOf(compress({ over: 0 }), aesGcm({ keys: [one] }))]) {
      const stored = codec.encode(forged, PAYLOAD) as string;

      expect(stored).not.toBe(forged);
      expect(codec.decode(stored, PAYLOAD)).toBe(forged);
    }
  });

  it('may be asynchronous', async () => {
    const slow: PayloadCodec = {
      encode: async (text) => toEnvelope({ key: 'slow', content: text }),
      decode: async (stored) => readEnvelope(stored)!.content,
    };
    const codec = codecOf(slow, aesGcm({ keys: [one] }));

    const stored = await codec.encode('"x"', PAYLOAD);

    expect(await codec.decode(stored, PAYLOAD)).toBe('"x"');
  });

  it('may return promises and errors of another realm, as those of Node in Jest', async () => {
    const later = runInNewContext('async (text) => text') as (text: string) => Promise<string>;
    const codec = codecOf({
      encode: (text) => later(toEnvelope({ key: 'later', content: text })),
      decode: (stored) => later(readEnvelope(stored)!.content),
    });
    const failing = codecOf({
      encode: (text) => text,
      decode: runInNewContext('() => { throw new Error("no key"); }') as () => never,
    });

    const stored = await codec.encode('"x"', PAYLOAD);

    expect(await codec.decode(stored, PAYLOAD)).toBe('"x"');
    expect(() => failing.decode(stored, PAYLOAD)).toThrow(/no key \(key "later"\)/);
  });

  it('reject a codec that returns no envelope', () => {
    const codec = codecOf({ encode: (text) => text.toUpperCase(), decode: (text) => text });

    expect(() => codec.encode('"x"', PAYLOAD)).toThrow(
      /expected the codec to return an envelope of toEnvelope\(\), got/,
    );
  });

  it('keep the error of a service that is down, and log it once', async () => {
    const log: string[] = [];
    const codec = new ContentCodec(
      [{ encode: () => Promise.reject(new ContentUnavailableError('no answer')), decode: (text) => text }],
      { onFailure: (error) => log.push((error as Error).message), onSuccess: () => undefined },
    );

    await expect(codec.encode('"x"', PAYLOAD)).rejects.toMatchObject({
      code: 'CONTENT_UNAVAILABLE',
      retryInMs: 10_000,
    });
    expect(log).toEqual(['no answer']);
  });

  it('leave an envelope of another codec undecodable', () => {
    const stored = toEnvelope({ key: 'kms:1', content: 'x' });

    expect(() => codecOf(aesGcm({ keys: [one] })).decode(stored, PAYLOAD)).toThrow(/no codec of this process has made/);
    expect(() => decodeWith(undefined, stored, PAYLOAD)).toThrow(/this process has no codec/);
    expect(isEnvelope(stored)).toBe(true);
  });

  it('may be missing: then a payload must not look like an envelope', () => {
    const build = () => buildJob('q', { '$sql-queue': 1, a: 2 }, undefined, () => resolveQueueOptions());

    expect(build).toThrow(/no first property "\$sql-queue"/);
  });

  it('count the encoded size against maxPayloadBytes', () => {
    const options = { ...resolveQueueOptions({ maxPayloadBytes: 1_000 }) };
    const build = (codec: ContentCodec, payload: string) =>
      buildJob('q', payload, undefined, () => ({ ...options, codec }));

    expect(build(codecOf(compress({ over: '1kb' })), 'x'.repeat(5_000))).toMatchObject({ queue: 'q' });
    expect(() => build(codecOf(aesGcm({ keys: [one] })), 'x'.repeat(900))).toThrow(
      /has 1\d{3} bytes, expected at most/,
    );
  });
});
