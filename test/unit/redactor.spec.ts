import { MASK, Redactor } from '../../lib/extras/dashboard/redactor.js';

const context = { queue: 'email', name: 'default', what: 'error' } as const;

describe('the redaction of a text', () => {
  it.each([
    ['token=abc', `token=${MASK}`],
    ['Error: refused: token=abc', `Error: refused: token=${MASK}`],
    ['refused: token=abc, to: ann', `refused: token=${MASK}, to: ann`],
    ['message="password: abc"', `message="password: ${MASK}"`],
    ['a:b:secret:c', `a:b:secret:${MASK}`],
    ['Authorization: Bearer abc', `Authorization: ${MASK}`],
    ['{"to":"ann","token":"a b"}', `{"to":"ann","token":${MASK}}`],
    [String.raw`body: {\"password\":\"ab\",\"to\":\"ann\"}`, String.raw`body: {\"password\":${MASK},\"to\":\"ann\"}`],
    [String.raw`{\\\"token\\\":\\\"ab\\\"}`, String.raw`{\\\"token\\\":${MASK}}`],
    [String.raw`{"password":"ab\"cd","to":"ann"}`, `{"password":${MASK},"to":"ann"}`],
    [String.raw`{"password":"ab\\","to":"ann"}`, `{"password":${MASK},"to":"ann"}`],
    ['{"password":"hunter2', `{"password":${MASK}`],
    ['token=', 'token='],
    ['mysql://root:abc@db/x', `mysql://root:${MASK}@db/x`],
    ['to: ann, at: noon', 'to: ann, at: noon'],
  ])('hides the secrets of %s', (text, hidden) => {
    expect(new Redactor().redact(text, context)).toBe(hidden);
  });

  it('hides all of a secret, however long it is', () => {
    const secret = 'x'.repeat(5_000);

    const hidden = [`{"token":"${secret}","to":"ann"}`, `token=${secret}, to: ann`].map((text) =>
      new Redactor().redact(text, context),
    );

    expect(hidden).toEqual([`{"token":${MASK},"to":"ann"}`, `token=${MASK}, to: ann`]);
  });

  it('takes no longer than the length of a text of many quotes', () => {
    const hostile = [`token="${'\\"'.repeat(19_000)}`, `token=\\"${'"'.repeat(39_000)}`, 'token="'.repeat(5_000)];

    for (const text of hostile) expect(new Redactor().redact(text, context).length).toBeLessThan(text.length);
  });

  it('leaves a long text of many pairs as it is', () => {
    const hostile = ['a:'.repeat(20_000), 'a="'.repeat(13_000), 'token'.repeat(8_000), 'a= '.repeat(13_000)];
    hostile.push('\\'.repeat(40_000), 'token=,'.repeat(5_000));

    for (const text of hostile) expect(new Redactor().redact(text, context)).toHaveLength(text.length);
  });
});
