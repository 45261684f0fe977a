import type { SqlValue } from '../core/statement.js';
import type { BoundStatement } from '../core/template.js';

const PLAIN = /^[ -[\]-~]*$/;

/**
 * The statement with its values as literals that are safe under every sql_mode and character set. The driver escapes
 * with backslashes, which NO_BACKSLASH_ESCAPES makes ordinary characters: a quote in a payload would then end the
 * literal, which is an SQL injection.
 */
export function withLiterals({ text, values }: BoundStatement): BoundStatement {
  const parts = text.split('?');
  if (parts.length !== values.length + 1) throw new Error(`Expected ${values.length} values for:\n${text}`);
  return {
    text: parts.map((part, index) => (index === 0 ? part : literal(values[index - 1]!) + part)).join(''),
    values: [],
  };
}

function literal(value: SqlValue): string {
  if (typeof value !== 'string') return String(value ?? 'NULL');
  if (PLAIN.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return `_utf8mb4 X'${Buffer.from(value).toString('hex')}'`;
}
