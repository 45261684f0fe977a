import { InvalidOptionsError } from '../../job/errors.js';
import { expected, isOptions, unknownKeys } from '../../job/expectation.js';
import type { Tables } from './table-names.js';

/** The table that receives finished jobs when their retention is over. Without it they are deleted. */
export interface ArchiveOptions {
  /** The table's name: 1 to 50 of the characters A-Z a-z 0-9 _. The library creates a missing table. */
  to: string;
}

export interface Archives {
  /** The tables of all archives, without duplicates. */
  readonly tables: readonly string[];
  /** One of `tables`; undefined if the queue has no archive, so its expired jobs are deleted. */
  tableOf(queue: string): string | undefined;
}

/** The name becomes part of SQL, so this check prevents injection. */
export function archiveProblems(archive: unknown): (string | undefined)[] {
  if (archive === undefined) return [];
  if (!isOptions(archive)) return [expected(false, 'archive to be { to }', archive)];
  const { to, ...unknown } = archive as Partial<ArchiveOptions>;
  return [
    ...unknownKeys(unknown, ['to']),
    expected(
      typeof to === 'string' && /^[A-Za-z0-9_]{1,50}$/.test(to),
      'archive.to to be 1 to 50 of the characters A-Z a-z 0-9 _',
      to,
    ),
  ];
}

/** The tables including the archives, for statements that `inArchive` returns. */
export function withArchives(tables: Tables, archives: readonly string[]): Tables & Readonly<Record<string, string>> {
  // Some servers ignore the case of table names.
  const taken = Object.values(tables).map((table) => table.toLowerCase());
  InvalidOptionsError.throwIfAny(
    'Invalid archive',
    archives.flatMap((to) => [
      ...archiveProblems({ to }),
      expected(!taken.includes(String(to).toLowerCase()), 'archive.to to be none of the tables of the queue', to),
    ]),
  );
  return { ...tables, ...Object.fromEntries(archives.map((to) => [tableKeyOf(to), to])) };
}

export function inArchive(sql: string, to: string): string {
  return sql.replaceAll('{archive}', `{${tableKeyOf(to)}}`);
}

function tableKeyOf(to: string): string {
  return `archive_${to}`;
}
