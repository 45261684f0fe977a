import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import { isTable, type Tables } from './tables.js';

/** Where finished jobs go when their retention is over, instead of being deleted. */
export interface ArchiveOptions {
  /** A table beside those of the queue, 1 to 50 of the characters A-Z a-z 0-9 _. Made where it is missing. */
  to: string;
}

/** The archive of each queue. */
export interface Archives {
  /** The tables of all archives, each once. */
  readonly tables: readonly string[];
  /** One of `tables`; undefined: the queue has no archive, and its expired jobs are deleted. */
  of(queue: string): string | undefined;
}

/** What is wrong with the option, one line a problem. The name becomes SQL, so it is checked here and nowhere else. */
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

/** The tables with those of the archives among them, for statements that `inArchive` makes. */
export function withArchives(tables: Tables, archives: readonly string[]): Readonly<Record<string, string>> {
  InvalidOptionsError.throwIfAny(
    'Invalid archive',
    archives.flatMap((to) => [
      ...archiveProblems({ to }),
      expected(!isTable(tables, to), 'archive.to to be none of the tables of the queue', to),
    ]),
  );
  return { ...tables, ...Object.fromEntries(archives.map((to) => [keyOf(to), to])) };
}

/** A statement on `{archive}`, for one of the archives. */
export function inArchive(sql: string, to: string): string {
  return sql.replaceAll('{archive}', `{${keyOf(to)}}`);
}

function keyOf(to: string): string {
  return `archive_${to}`;
}
