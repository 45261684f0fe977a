import { runInNewContext } from 'node:vm';
import { encodeJson } from '../../lib/job/json.js';

const VIEW = 'value.buffer, value.byteOffset, value.byteLength';
const FIELDS = 'pass a plain object of its fields, or give it a toJSON()';

class Ping {
  send() {}
}

class User {
  static #count = 0;
  name = 'ada; #name = ';
  // #note;
  get upper() {
    return this.#upper();
  }
  #upper() {
    return `${this.name} ${User.#count}`;
  }
}

class Admin extends User {}

class Money {
  #amount = 7;
  currency = 'EUR';
  get cents() {
    return this.#amount;
  }
}

class Price extends Money {
  gross = true;
}

class Celsius {
  get degrees() {
    return 7;
  }
}

class Coded {
  #secret = 7;
  toJSON() {
    return { secret: this.#secret };
  }
}

class Itself {
  #secret = 7;
  shown = 1;
  toJSON() {
    return this.#secret > 0 ? this : undefined;
  }
}

class Query {
  sql = 'SELECT 1';
  // oxlint-disable-next-line unicorn/no-thenable
  then() {}
}

function hidden(): Ping {
  return Object.defineProperty(new Ping(), 'hidden', { value: 1 });
}

function* numbers() {
  yield 1;
}

const circular: Record<string, unknown> = {};
circular.self = { circular };
const shared = { a: 1 };
// oxlint-disable-next-line no-sparse-arrays
const holes = [1, , 3];

describe('a value that JSON can represent', () => {
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
  ])('is decoded unchanged: %j', (value) => {
    const encoded = encodeJson(value) as { text: string };

    expect(JSON.parse(encoded.text)).toEqual(value);
    expect(JSON.stringify(JSON.parse(encoded.text))).toBe(JSON.stringify(value));
  });

  it('may have undefined properties, which are omitted', () => {
    expect(encodeJson({ a: undefined, b: 1 })).toEqual({ text: '{"b":1}' });
  });

  it('may define its representation with toJSON', () => {
    expect(encodeJson({ at: new Date(0) })).toEqual({ text: '{"at":"1970-01-01T00:00:00.000Z"}' });
    expect(encodeJson({ n: { toJSON: () => 7, big: 1n } })).toEqual({ text: '{"n":7}' });
  });

  it('changes no prototype of other objects', () => {
    encodeJson(JSON.parse('{"__proto__":{"polluted":1}}'));

    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('a value that JSON cannot represent', () => {
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
  ])('is rejected with its position (%#)', (value, what) => {
    expect(encodeJson(value)).toEqual({ problem: `expected a value that JSON can carry, got ${what}` });
  });

  it.each([
    [Promise.resolve(1), 'a Promise at a: await it first'],
    [new Query(), 'a Query at a: await it first'],
    [new TypeError('no'), 'a TypeError at a: pass its message, or { name, message, stack }'],
    [Object.assign(new Error('no'), { code: 'X' }), 'an Error at a: pass its message, or { name, message, stack }'],
    [new DOMException('no'), 'a DOMException at a: pass its message, or { name, message, stack }'],
    [runInNewContext('new Error()'), 'an Error at a: pass its message, or { name, message, stack }'],
    [runInNewContext('new Map()'), 'a Map at a'],
    [runInNewContext('({ b: [{}] })'), undefined],
    [/a/g, 'a RegExp at a: pass its source and flags'],
    [new Uint8Array(2), `a Uint8Array at a: pass Buffer.from(value).toString('base64')`],
    [new Float64Array(0), `a Float64Array at a: pass Buffer.from(${VIEW}).toString('base64')`],
    [new DataView(new ArrayBuffer(1)), `a DataView at a: pass Buffer.from(${VIEW}).toString('base64')`],
    [new ArrayBuffer(1), `an ArrayBuffer at a: pass Buffer.from(value).toString('base64')`],
    [numbers(), 'a Generator at a: spread it into an array'],
    [new WeakMap(), `an instance of WeakMap, of which JSON keeps nothing at a: ${FIELDS}`],
    [new Intl.NumberFormat(), `an instance of NumberFormat, of which JSON keeps nothing at a: ${FIELDS}`],
    [Object(Symbol('s')), `an instance of Symbol, of which JSON keeps nothing at a: ${FIELDS}`],
    [new Money(), `an instance of Money with private fields at a: ${FIELDS}`],
    [new Price(), `an instance of Price with private fields at a: ${FIELDS}`],
    [new Celsius(), `an instance of Celsius, of which JSON keeps nothing at a: ${FIELDS}`],
    [hidden(), `an instance of Ping, of which JSON keeps nothing at a: ${FIELDS}`],
    [{ toJSON: () => new Map() }, 'a Map at a'],
    [{ toJSON: () => [NaN] }, 'NaN at a.0'],
    [Buffer.from('é'), `a Buffer at a: pass value.toString('base64')`],
    [new Ping(), undefined],
    [new User(), undefined],
    [new Admin(), undefined],
    [new Coded(), undefined],
    [new Itself(), undefined],
    [Object.create(null), undefined],
    [Object(7), undefined],
    [new URL('https://a.b'), undefined],
  ])('is rejected with a hint, as is a value with private state, while others are accepted (%#)', (value, problem) => {
    const encoded = encodeJson({ a: value });

    const expected = problem && { problem: `expected a value that JSON can carry, got ${problem}` };
    expect(encoded).toEqual(expected ?? { text: expect.any(String) });
  });

  it('is rejected if toJSON throws, or returns nothing or an invalid value', () => {
    const throws = () => {
      throw new Error('no');
    };
    const throwsNull = () => {
      // oxlint-disable-next-line typescript/only-throw-error -- the mistake
      throw null;
    };

    expect(encodeJson({ toJSON: throws })).toHaveProperty('problem');
    expect(encodeJson({ toJSON: throwsNull })).toEqual({ problem: 'expected a value that JSON can carry, got null' });
    expect(encodeJson({ toJSON: () => undefined })).toHaveProperty('problem');
    expect(encodeJson({ toJSON: () => 1n })).toHaveProperty('problem');
  });
});
