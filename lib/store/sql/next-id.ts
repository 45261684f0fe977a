import { inArchive } from '../archive.js';
import type { Dialect } from './dialect.js';
import type { SqlDatabase } from './sql-database.js';
import { change, query, type Work } from './statement.js';

// Half of the ids that a number can hold exactly. A row beyond that was written by another program, and ids that began behind
// it would run out.
const HIGHEST_BELIEVED = 2 ** 52;

// Keys are in the order of their hashes, so some of them tell as much as all.
const SOME_KEYS = 10_000;

// Each is the last entry of an index. Not the waits: their ids come from callers, and they end within minutes.
const highestIds = (archives: readonly string[]) => `
  SELECT (SELECT MAX(id) FROM {history} WHERE id <= ${HIGHEST_BELIEVED}) AS history,
         (SELECT MAX(job_id) FROM {progress} WHERE job_id <= ${HIGHEST_BELIEVED}) AS progress,
         (SELECT MAX(job_id) FROM {logs} WHERE job_id <= ${HIGHEST_BELIEVED}) AS logs,
         (SELECT MAX(job_id) FROM {stages} WHERE job_id <= ${HIGHEST_BELIEVED}) AS stages,
         (SELECT MAX(job_id) FROM (SELECT job_id FROM {keys} LIMIT ${SOME_KEYS}) AS some_keys
          WHERE job_id <= ${HIGHEST_BELIEVED}) AS some_keys
         ${archives.map((to, index) => inArchive(`, (${HIGHEST_ARCHIVED}) AS archive_${index}`, to)).join('')}`;

const HIGHEST_ARCHIVED = `SELECT MAX(id) FROM {archive} WHERE id <= ${HIGHEST_BELIEVED}`;

// Stands in no queue, and is gone when its transaction ends. An explicit id raises the counter without any right to ALTER.
const RESERVE = `
  INSERT INTO {jobs} (id, queue, state, runnable, payload)
  VALUES (:id, '', 'waiting', 2, 'null')`;

const UNRESERVE = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id AND claim_id = 0`;

/**
 * Makes the ids of new jobs begin behind all ids that the tables know: after a TRUNCATE of the jobs, in a restored dump or
 * with a lowered counter, a new job would be taken for the earlier one with its id. Never rejects.
 *
 * @param table the name of the jobs table
 * @param archives the tables of all archives
 * @returns lines for the log
 */
export async function raiseIds(
  database: SqlDatabase,
  dialect: Pick<Dialect, 'nextId'>,
  table: string,
  archives: readonly string[],
): Promise<string[]> {
  try {
    const [highest, next] = await database.repeatable(() => ids(dialect, archives));
    if (next > highest) return [];
    const seen =
      `The ids of new jobs in ${table} would start again at ${next}, although there were jobs up to ${highest}: the table was ` +
      `truncated or restored, or its counter was lowered.`;
    try {
      await database.transaction(() => reserve(highest));
    } catch (error) {
      if (isDenied(error)) return [`${seen} Run: ALTER TABLE ${table} AUTO_INCREMENT = ${highest + 1}`];
      if (!isDuplicate(error)) throw error;
    }
    return [`${seen} They begin at ${highest + 1} now.`];
  } catch (error) {
    // An account that only enqueues may not read the other tables; a process that works will.
    if (isDenied(error) || isMissing(error)) return [];
    return [`Cannot check whether the ids of new jobs are unused: ${(error as Error).message}`];
  }
}

function* ids(dialect: Pick<Dialect, 'nextId'>, archives: readonly string[]): Work<[highest: number, next: number]> {
  const [row] = yield* query<Record<string, number | string | null>>(highestIds(archives));
  return [Math.max(...Object.values(row!).map((id) => Number(id) || 0)), yield* dialect.nextId()];
}

function* reserve(id: number): Work<void> {
  yield* change(RESERVE, { id });
  yield* change(UNRESERVE, { id });
}

/** ER_TABLEACCESS_DENIED_ERROR, ER_COLUMNACCESS_DENIED_ERROR. */
function isDenied(error: unknown): boolean {
  return [1142, 1143].includes((error as { errno?: number }).errno ?? 0);
}

/** Another process has raised the counter, and used the id. */
function isDuplicate(error: unknown): boolean {
  const { errno, code } = error as { errno?: number; code?: string };
  return errno === 1062 || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

function isMissing(error: unknown): boolean {
  const { errno, message } = error as { errno?: number; message?: string };
  return errno === 1146 || (message?.startsWith('no such table') ?? false);
}
