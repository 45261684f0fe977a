import { storedError } from '../../lib/job/stored-error.js';

describe('a stored error', () => {
  it('has name, message, code and stack', () => {
    const error = Object.assign(new TypeError('no'), { code: 'E_NO', secret: 1 });

    expect(storedError(error)).toEqual({ name: 'TypeError', message: 'no', code: 'E_NO', stack: error.stack });
  });

  it('has a limited length', () => {
    const error = new Error('x'.repeat(1_000_000));

    expect(JSON.stringify(storedError(error)).length).toBeLessThan(20_000);
    expect(storedError(error).message).toMatch(/^x{4000}… \(996000 characters more\)$/);
  });

  it.each([['text'], [undefined], [null], [7], [7n], [Symbol('s')], [() => 1], [{ a: 1 }], [Object.create(null)]])(
    'can be made of any thrown value (%#)',
    (thrown) => {
      expect(storedError(thrown).message).toMatch(/^A handler threw something that is no Error: /);
    },
  );

  it('keeps the message of an error from another realm', () => {
    expect(storedError({ name: 'E', message: 'from elsewhere' })).toEqual({ name: 'E', message: 'from elsewhere' });
  });

  it.each([
    [{ message: Symbol('s') }],
    [{ message: Object.create(null) }],
    [{ message: 'x', name: Object.create(null) }],
  ])('can be made of an error with a malformed name or message (%#)', (thrown) => {
    expect(typeof storedError(thrown).message).toBe('string');
  });

  it('can be made of an error with properties that throw', () => {
    const thrown = Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('no');
      },
    });

    expect(typeof storedError(thrown).message).toBe('string');
  });
});
