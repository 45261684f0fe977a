import { hasCode } from '../../job/errors.js';
import { inArchive } from '../tables/archive-options.js';
import { isMissingTable } from '../core/classify-error.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { deleteFrom, execute, query, type Work } from '../core/statement.js';
import { IN_STAGE } from '../tables/runnable.js';

// Half of the ids that a number holds exactly. Another program wrote a row above that, and new ids above it would run
// out.
const MAX_TRUSTED_ID = 2 ** 52;

// Keys are stored in the order of their hashes, so the first ones are a random sample.
const KEY_SAMPLE_SIZE = 10_000;

// Each subquery reads the last entry of an index. Waits are excluded: callers choose their ids, and waits end within
// minutes.
const selectHighestIds = (archives: readonly string[]) => `
  SELECT (SELECT MAX(id) FROM {history} WHERE id <= ${MAX_TRUSTED_ID}) AS history,
         (SELECT MAX(job_id) FROM {progress} WHERE job_id <= ${MAX_TRUSTED_ID}) AS progress,
         (SELECT MAX(job_id) FROM {logs} WHERE job_id <= ${MAX_TRUSTED_ID}) AS logs,
         (SELECT MAX(job_id) FROM {stages} WHERE job_id <= ${MAX_TRUSTED_ID}) AS stages,
         (SELECT MAX(job_id) FROM (SELECT job_id FROM {keys} LIMIT ${KEY_SAMPLE_SIZE}) AS some_keys
          WHERE job_id <= ${MAX_TRUSTED_ID}) AS some_keys
         ${archives.map((to, index) => inArchive(`, (${HIGHEST_ARCHIVED_ID}) AS archive_${index}`, to)).join('')}`;

const HIGHEST_ARCHIVED_ID = `SELECT MAX(id) FROM {archive} WHERE id <= ${MAX_TRUSTED_ID}`;

// A row in no queue, deleted in the same transaction. An explicit id raises the counter without the ALTER privilege.
const RESERVE = `
  INSERT INTO {jobs} (id, queue, state, runnable, payload)
  VALUES (:id, '', 'waiting', ${IN_STAGE}, 'null')`;

const UNRESERVE = deleteFrom('jobs', 'id = :id AND claim_id = 0');

/**
 * Raises the id of the next job above all ids in the tables. A TRUNCATE, a restored dump or a lowered counter can reset
 * it. A new job would then be confused with the earlier job of the same id. Never rejects.
 *
 * @param table the name of the jobs table
 * @returns warnings for the log
 */
export async function raiseNextId(
  database: SqlDatabase,
  dialect: Dialect,
  table: string,
  archives: readonly string[],
): Promise<string[]> {
  try {
    const [highest, next] = await database.runIdempotent(() => readHighestAndNextId(dialect, archives));
    if (next > highest) return [];
    const problem =
      `The ids of new jobs in ${table} would start again at ${next}, although there were jobs up to ${highest}: the table was ` +
      `truncated or restored, or its counter was lowered.`;
    try {
      await database.transaction(function* () {
        yield* execute(RESERVE, { id: highest });
        yield* execute(UNRESERVE, { id: highest });
      });
    } catch (error) {
      if (hasCode(error, 'MISSING_PRIVILEGE'))
        return [`${problem} Run: ALTER TABLE ${table} AUTO_INCREMENT = ${highest + 1}`];
      if (!isDuplicate(error)) throw error;
    }
    return [`${problem} They begin at ${highest + 1} now.`];
  } catch (error) {
    // The account of a producer may lack the privilege to read the other tables. A process with a worker has it.
    if (hasCode(error, 'MISSING_PRIVILEGE') || isMissingTable(error)) return [];
    return [`Cannot check whether the ids of new jobs are unused: ${(error as Error).message}`];
  }
}

function* readHighestAndNextId(dialect: Dialect, archives: readonly string[]): Work<[highest: number, next: number]> {
  const [row] = yield* query<Record<string, number | string | null>>(selectHighestIds(archives));
  return [Math.max(...Object.values(row!).map((id) => Number(id) || 0)), yield* dialect.nextId()];
}

/** Another process has raised the counter and used the id. */
function isDuplicate(error: unknown): boolean {
  const { errno, code } = error as { errno?: number; code?: string };
  return errno === 1062 || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
