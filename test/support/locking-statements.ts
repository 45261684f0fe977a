import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const STORE = join(import.meta.dirname, '../../lib/store');

/** Whether a statement locks rows. An INSERT … SELECT would lock rows under another isolation level. */
export function locksRows(sql: string): boolean {
  return /\bFOR UPDATE\b|^\s*(UPDATE|DELETE)\b|^\s*(INSERT|REPLACE) INTO \S+ \((id, [^)]*|\$\{HISTORY_COLUMNS\})\)\s+SELECT\b/.test(
    sql,
  );
}

/** A pattern for every row-locking statement in the source of the store for that server. */
export function readLockingStatements(server: string): RegExp[] {
  const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      !/sqlite|single-statement|migrations|core.statement/.test(file) &&
      (server === 'mariadb' || !file.endsWith('lock-waiting-only.ts')),
  );
  const sources = files.map((file) => readFileSync(join(STORE, file), 'utf8'));
  const texts = sources.flatMap((source) => source.match(/`[^`]*`/g) ?? []).map((text) => text.slice(1, -1));
  return [...texts, ...sources.flatMap(deletesOf)].filter(locksRows).map(toPattern);
}

/** The statements of deleteFrom(). */
function deletesOf(source: string): string[] {
  const calls = source.matchAll(/deleteFrom\(\s*(?:'(\w+)'|\w+),\s*(?:'([^']*)'|"([^"]*)"|`([^`]*)`),?\s*\)/g);
  return [...calls].map(([, name, ...wheres]) => {
    const table = name === undefined ? '${table}' : `{${name}}`;
    return `DELETE /*! ${table} */ FROM ${table} /*! FORCE INDEX (PRIMARY) */ WHERE ${wheres.find(Boolean)}`;
  });
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
