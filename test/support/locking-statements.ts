import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expand } from '../../lib/store/core/template.js';
import { mysql } from '../../lib/store/databases/mysql/mysql.js';
import { tableNames } from '../../lib/store/tables/table-names.js';

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
      !/sqlite|migrations|core.(statement|template)|mysql.mysql\.ts/.test(file) &&
      (server === 'mariadb' || !file.endsWith('lock-waiting-only.ts')),
  );
  const sources = files.map((file) => readFileSync(join(STORE, file), 'utf8'));
  const texts = sources.flatMap((source) => source.match(/`[^`]*`/g) ?? []).map((text) => text.slice(1, -1));
  return [...texts, ...sources.flatMap(deletesOf)].filter(saysThatItLocks).map(toPattern);
}

/** The statements of deleteFrom(). */
function deletesOf(source: string): string[] {
  const calls = source.matchAll(/deleteFrom\(\s*(?:'(\w+)'|\w+),\s*(?:'([^']*)'|"([^"]*)"|`([^`]*)`),?\s*\)/g);
  return [...calls].map(([, name, ...wheres]) => {
    const table = name === undefined ? '${table}' : `{${name}}`;
    return `DELETE ${table} FROM ${table} FORCE INDEX (PRIMARY) WHERE ${wheres.find(Boolean)}`;
  });
}

function saysThatItLocks(template: string): boolean {
  return locksRows(template) || /\{(lock\b|\$\{lock\}|current\})/.test(template);
}

/** A gap matches any text: what the source puts in, and the values. */
const GAP = '\0';

function toPattern(template: string): RegExp {
  const withGaps = template
    .replaceAll('{${lock}}', `{lock}${GAP}`)
    .replaceAll('{current}', '{lock}')
    .replace(/\$\{[^}]*\}/g, GAP)
    .replace(/\{[^{}]*\0[^{}]*\}/g, GAP);
  const source = expand(withGaps, { ...tableNames(), archive: 'sql_queue_archive' }, mysql.words)
    .trim()
    .split(/\s+/)
    .join(' ')
    .replace(/[\\^$.*+?()[\]|/]/g, '\\$&')
    .replace(/:[a-z]\w*/gi, GAP)
    .replaceAll(GAP, '.*?')
    .replace(/ /g, '\\s+');
  return new RegExp(`^\\s*${source}\\s*$`, 's');
}
