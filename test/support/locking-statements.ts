import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const STORE = join(import.meta.dirname, '../../lib/store');

/** Whether a statement locks rows. An INSERT … SELECT would lock rows under another isolation level. */
export function locksRows(sql: string): boolean {
  return /\bFOR UPDATE\b|^\s*(UPDATE|DELETE)\b|^\s*(INSERT|REPLACE) INTO \S+ \(id, [^)]*\)\s+SELECT\b/.test(sql);
}

/** A pattern for every row-locking statement in the source of the store for that server. */
export function readLockingStatements(server: string): RegExp[] {
  const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      !/sqlite|single-statement|migrations/.test(file) &&
      (server === 'mariadb' || !file.endsWith('lock-waiting-only.ts')),
  );
  const texts = files.flatMap((file) => readFileSync(join(STORE, file), 'utf8').match(/`[^`]*`/g) ?? []);
  return texts
    .map((text) => text.slice(1, -1))
    .filter(locksRows)
    .map(toPattern);
}

function toPattern(template: string): RegExp {
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
