import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import { isTable, type Tables } from './tables.js';

/** Where finished jobs go when their retention is over, instead of being deleted. */
export interface ArchiveOptions {
  /** A table beside those of the queue, 1 to 50 of the characters A-Z a-z 0-9 _. Made where it is missing. */
  to: string;
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

/** The tables with the archive among them, as `{archive}`. */
export function withArchive(tables: Tables, archive: ArchiveOptions | undefined): Readonly<Record<string, string>> {
  InvalidOptionsError.throwIfAny('Invalid archive', [
    ...archiveProblems(archive),
    expected(!archive || !isTable(tables, archive.to), 'archive.to to be none of the tables of the queue', archive?.to),
  ]);
  return archive ? { ...tables, archive: archive.to } : tables;
}
