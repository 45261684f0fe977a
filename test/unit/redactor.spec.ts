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
    ['mysql://root:abc@db/x', `mysql://root:${MASK}@db/x`],
    ['to: ann, at: noon', 'to: ann, at: noon'],
  ])('hides the secrets of %s', (text, hidden) => {
    expect(new Redactor().redact(text, context)).toBe(hidden);
  });

  it('leaves a long text of many pairs as it is', () => {
    const hostile = ['a:'.repeat(20_000), 'a="'.repeat(13_000), 'token'.repeat(8_000), 'a= '.repeat(13_000)];

    for (const text of hostile) expect(new Redactor().redact(text, context)).toHaveLength(text.length);
  });
});
