import type { BoundStatement } from '../../core/template.js';

// No driver escapes these characters, and they have the same byte in every character set that a session can have.
const UNESCAPED = /^[ !#$%&()*+,\-./0-9:;<=>?A-Z_a-z]*$/;

const TEXT_OF_DIGITS = 'CONVERT(UNHEX(?) USING utf8mb4)';

/**
 * The statement for the drivers of an application, of which the library knows neither the session nor the way of escaping.
 * An escape with backslashes is an SQL injection in some sessions: see `withLiterals`. A text that would need one travels as
 * hexadecimal digits.
 */
export function withUnescapedValues({ text, values }: BoundStatement): BoundStatement {
  const [first, ...others] = text.split('?');
  const needsDigits = values.map((value) => typeof value === 'string' && !UNESCAPED.test(value));
  return {
    text: first + others.map((part, index) => (needsDigits[index] ? TEXT_OF_DIGITS : '?') + part).join(''),
    values: values.map((value, index) => (needsDigits[index] ? Buffer.from(value as string).toString('hex') : value)),
  };
}
