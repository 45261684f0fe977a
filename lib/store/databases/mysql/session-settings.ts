import { UnsupportedDatabaseError } from '../../../job/errors.js';
import type { QueryRunner } from 'typeorm';
import type { StatementResult } from '../../core/statement.js';

/** The value of `sql_select_limit` with which no answer is cut. */
const ALL_ROWS = '18446744073709551615';

// A server, by init_connect or by ignoring the handshake, and a proxy can give a session other values than the driver
// asked for. Texts would then be stored damaged, and answers would be cut.
const REQUIRED = {
  character_set_client: 'utf8mb4',
  character_set_connection: 'utf8mb4',
  character_set_results: 'utf8mb4',
  collation_connection: 'utf8mb4_bin',
  sql_mode: 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION',
  sql_select_limit: ALL_ROWS,
} as const;

const NAMES = Object.keys(REQUIRED) as (keyof typeof REQUIRED)[];

/** Assignments for SET SESSION. */
export const REQUIRED_SETTINGS = NAMES.map((name) =>
  name === 'sql_select_limit' ? `${name} = ${ALL_ROWS}` : `${name} = '${REQUIRED[name]}'`,
).join(', ');

/** The columns of a SELECT for `requireSettings`. */
export const SESSION_SETTINGS = NAMES.map((name) => `CAST(@@SESSION.${name} AS CHAR) AS ${name}`).join(', ');

/** Throws UnsupportedDatabaseError unless the session has taken the required settings over. */
export function requireSettings(row: Readonly<Record<string, unknown>> | undefined): void {
  const problems = NAMES.filter((name) => row?.[name] !== REQUIRED[name]).map(
    (name) => `expected ${name} = ${REQUIRED[name]}, got ${String(row?.[name])}`,
  );
  if (problems.length === 0) return;
  throw new UnsupportedDatabaseError(
    `The queue cannot work on this connection, whose session does not keep its settings: ${problems.join('; ')}. Let the ` +
      'proxy between the application and the server pass SET statements on.',
  );
}

// LIMIT, because sql_select_limit may be 0.
const READ = `
  SELECT @@SESSION.character_set_results AS results, CAST(@@SESSION.sql_select_limit AS CHAR) AS most
  LIMIT 1`;

const set = (results: string, most: string) =>
  `SET SESSION character_set_results = ${results}, sql_select_limit = ${most}`;

/**
 * Calls `act` with a function to call before it reads. Answers are then complete, with all characters, for any
 * settings of the caller's session, which get their values back afterwards. Calls must not overlap: one would restore the
 * settings while another one reads.
 */
export async function withCompleteAnswers<T>(
  runner: QueryRunner,
  act: (beforeRead: () => Promise<void>) => Promise<T>,
): Promise<T> {
  let isChecked = false;
  let restore: string | undefined;
  const beforeRead = async () => {
    if (isChecked) return;
    const [settings] = (await runner.query(READ)) as [{ results: string | null; most: string }];
    const { results, most } = settings;
    // NULL: the server converts nothing, so it sends texts as they are stored.
    if ((results !== null && results !== 'utf8mb4') || most !== ALL_ROWS) {
      await runner.query(set('utf8mb4', ALL_ROWS));
      restore = set(results ?? 'NULL', most);
    }
    isChecked = true;
  };
  try {
    const value = await act(beforeRead);
    if (restore !== undefined) await runner.query(restore);
    return value;
  } catch (error) {
    // The error of the work counts, also if the connection was lost with it.
    if (restore !== undefined) await runner.query(restore).catch(() => undefined);
    throw error;
  }
}

/** The driver answers an INSERT with the id of its first row. */
export async function sendOnSession(runner: QueryRunner, text: string): Promise<StatementResult> {
  const { raw, records, affected = 0 } = await runner.query(text, [], true);
  const insertId = Number((raw as { insertId?: number } | undefined)?.insertId ?? 0);
  return { rows: records as Record<string, unknown>[], affectedRows: affected, insertId };
}
