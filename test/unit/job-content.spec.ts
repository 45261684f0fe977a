import { checkPayload, checkSize, encodePayload, encodeResult } from '../../lib/job/job-content.js';
import { resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';

async function encode(payload: unknown, options: QueueOptions = {}): Promise<string> {
  return encodePayload('q', payload, resolveQueueOptions(options));
}

function schema(validate: (value: unknown) => unknown): QueueOptions {
  return {
    schema: { '~standard': { version: 1, vendor: 'test', validate } } as QueueOptions['schema'],
  };
}

describe('a payload', () => {
  it('is stored as JSON', async () => {
    expect(await encode({ a: 1 })).toBe('{"a":1}');
  });

  it('is rejected with its queue and the position if it cannot be stored', async () => {
    await expect(encode({ a: 1n })).rejects.toThrow(/^Payload for queue "q": .* got a BigInt \(1n\) at a$/);
    await expect(encode(undefined)).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' });
  });

  it('may have exactly the maximum of bytes', async () => {
    expect(await encode('éé', { maxPayloadBytes: 6 })).toBe('"éé"');
    await expect(encode('éé!', { maxPayloadBytes: 6 })).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      bytes: 7,
      limit: 6,
    });
  });

  it('counts an emoji as four bytes', () => {
    expect(() => checkSize('q', 'headers', '😀', 4)).not.toThrow();
    expect(() => checkSize('q', 'headers', '😀', 3)).toThrow(/has 4 bytes, expected at most 3/);
  });

  it('is stored unchanged, and reaches the handler as the output of the schema', async () => {
    const options = schema(async (value) => ({ value: Number(value) }));

    expect(await encode('7', options)).toBe('"7"');
    expect(await checkPayload('q', '7', resolveQueueOptions(options))).toBe(7);
    expect(await checkPayload('q', '7', resolveQueueOptions())).toBe('7');
  });

  it('is rejected with all issues of the schema', async () => {
    const issues = [{ message: 'Required', path: ['to', { key: 0 }] }, { message: 'Too short' }];

    await expect(
      encode(
        {},
        schema(() => ({ issues })),
      ),
    ).rejects.toThrow('to.0: Required; Too short');
  });
});

describe('a result', () => {
  it('is not stored if it is undefined', () => {
    expect(encodeResult('q', undefined, { maxPayloadBytes: 10 })).toBeNull();
    expect(encodeResult('q', null, { maxPayloadBytes: 10 })).toBe('null');
  });

  it('is checked like a payload', () => {
    expect(() => encodeResult('q', 1n, { maxPayloadBytes: 10 })).toThrow(/result: .*BigInt/);
    expect(() => encodeResult('q', 'x'.repeat(20), { maxPayloadBytes: 10 })).toThrow(
      /The result of a job for queue "q" has 22 bytes/,
    );
  });
});
