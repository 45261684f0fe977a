import { encodeJson } from '../../lib/job/json.js';

const circular: Record<string, unknown> = {};
circular.self = { circular };
const shared = { a: 1 };
// oxlint-disable-next-line no-sparse-arrays
const holes = [1, , 3];

describe('a value that JSON can carry', () => {
  it.each([
    [null],
    [0],
    [''],
    [false],
    [[]],
    [{}],
    ['é😀\u2028\u0000'],
    [{ a: [1, { b: null }], ключ: 'x' }],
    [[shared, shared]],
    [JSON.parse('{"__proto__":{"polluted":1},"constructor":2}')],
  ])('comes back as it went in: %j', (value) => {
    const encoded = encodeJson(value) as { text: string };

    expect(JSON.parse(encoded.text)).toEqual(value);
    expect(JSON.stringify(JSON.parse(encoded.text))).toBe(JSON.stringify(value));
  });

  it('may have properties that are undefined, which are left out', () => {
    expect(encodeJson({ a: undefined, b: 1 })).toEqual({ text: '{"b":1}' });
  });

  it('may say itself what it is with toJSON', () => {
    expect(encodeJson({ at: new Date(0) })).toEqual({ text: '{"at":"1970-01-01T00:00:00.000Z"}' });
    expect(encodeJson({ n: { toJSON: () => 7, big: 1n } })).toEqual({ text: '{"n":7}' });
  });

  it('leaves the prototype of everything else alone', () => {
    encodeJson(JSON.parse('{"__proto__":{"polluted":1}}'));

    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('a value that JSON cannot carry', () => {
  it.each([
    [undefined, 'undefined at the top level'],
    [() => 1, 'a function at the top level'],
    [Symbol('s'), 'a symbol at the top level'],
    [{ a: { b: 1n } }, 'a BigInt (1n) at a.b'],
    [{ a: [1, NaN] }, 'NaN at a.1'],
    [{ a: -Infinity }, '-Infinity at a'],
    [[undefined], 'undefined at 0'],
    [{ a: () => 1 }, 'a function at a'],
    [{ a: new Map() }, 'a Map at a'],
    [{ a: new Set() }, 'a Set at a'],
    [{ a: new Date(NaN) }, 'an invalid Date at a'],
    [holes, 'an array with holes at the top level'],
    [{ a: holes }, 'an array with holes at a'],
    [circular, 'a circular reference at self.circular'],
  ])('is refused with the place where it is (%#)', (value, what) => {
    expect(encodeJson(value)).toEqual({ problem: `expected a value that JSON can carry, got ${what}` });
  });

  it('is refused where toJSON throws, answers nothing or what JSON cannot carry', () => {
    const throws = () => {
      throw new Error('no');
    };

    expect(encodeJson({ toJSON: throws })).toHaveProperty('problem');
    expect(encodeJson({ toJSON: () => undefined })).toHaveProperty('problem');
    expect(encodeJson({ toJSON: () => 1n })).toHaveProperty('problem');
  });
});
