import type { SqlValue } from '../../core/statement.js';
import type { BoundStatement } from '../../core/template.js';

// These characters have the same byte in every character set that a session can have. swe7 has letters in place of
// @ [ \ ] ^ ` { | } and ~.
const INVARIANT = /^[ !"#$%&()*+,\-./0-9:;<=>?A-Z_a-z]*$/;

/** The texts that a session whose character set is known reads as they were sent. */
// oxlint-disable-next-line no-control-regex
export const WITHOUT_ESCAPES = /^[^\0-\u001f\\\u007f]*$/;

/** The texts that a session of the caller reads as they were sent, for any character set of the session and the driver. */
export const ASCII_WITHOUT_ESCAPES = /^[ -[\]-~]*$/;

/**
 * The statement with its values as literals. No value can end its literal, for any sql_mode and character set of the
 * session. The driver would escape with backslashes. NO_BACKSLASH_ESCAPES makes them ordinary characters, and in gbk,
 * sjis, big5 and others a backslash can be the second byte of a character: the quote after it would end the literal,
 * which is an SQL injection. No such character contains the byte of a quote.
 *
 * @param quotable the texts that may travel within quotes; all others travel as hexadecimal digits
 */
export function withLiterals({ text, values }: BoundStatement, quotable: RegExp): string {
  let sql = '';
  let from = 0;
  for (const value of values) {
    const at = text.indexOf('?', from);
    if (at < 0) throw countError(text, values);
    sql += text.slice(from, at) + literal(value, quotable);
    from = at + 1;
  }
  if (text.includes('?', from)) throw countError(text, values);
  return sql + text.slice(from);
}

function literal(value: SqlValue, quotable: RegExp): string {
  if (typeof value !== 'string') return String(value ?? 'NULL');
  if (INVARIANT.test(value)) return `'${value}'`;
  if (quotable.test(value)) return `_utf8mb4'${value.replaceAll("'", "''")}'`;
  return `_utf8mb4 X'${Buffer.from(value).toString('hex')}'`;
}

function countError(text: string, values: readonly SqlValue[]): Error {
  return new Error(`Expected ${values.length} values for:\n${text}`);
}
