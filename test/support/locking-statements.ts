import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const STORE = join(import.meta.dirname, '../../lib/store');

/** Whether a statement locks rows; those that copy jobs would under another isolation. */
export function locks(sql: string): boolean {
  return /\bFOR UPDATE\b|^\s*(UPDATE|DELETE)\b|^\s*(INSERT|REPLACE) INTO \S+ \(id, [^)]*\)\s+SELECT\b/.test(sql);
}

/** Every statement in the source of the store that locks rows on that server, as an expression that its text matches. */
export function lockingStatements(server: string): RegExp[] {
  const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      !/sqlite|single-statement/.test(file) &&
      (server === 'mariadb' || !file.includes('mariadb')),
  );
  const texts = files.flatMap((file) => readFileSync(join(STORE, file), 'utf8').match(/`[^`]*`/g) ?? []);
  return texts
    .map((text) => text.slice(1, -1))
    .filter(locks)
    .map(expression);
}

function expression(template: string): RegExp {
  const source = template
    .trim()
    .split(/\s+/)
    .join(' ')
    .replace(/[\\^$.*+?()[\]|/]/g, '\\$&')
    .replace(/\\?\$\{[^}]*\}/g, '.*?')
    .replace(/\{(\w+)\}/g, 'sql_queue_$1')
    .replace(/:[a-z]\w*/gi, '.*?')
    .replace(/ /g, '\\s+');
  return new RegExp(`^\\s*${source}\\s*$`, 's');
}
