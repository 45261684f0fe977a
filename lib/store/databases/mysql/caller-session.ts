import type { QueryRunner } from 'typeorm';
import type { StatementResult } from '../../core/statement.js';
import { ALL_ROWS } from './session-settings.js';

// LIMIT, because sql_select_limit may be 0.
const READ = `
  SELECT @@SESSION.character_set_results AS results, CAST(@@SESSION.sql_select_limit AS CHAR) AS most
  LIMIT 1`;

const set = (results: string, most: string) =>
  `SET SESSION character_set_results = ${results}, sql_select_limit = ${most}`;

const turns = new WeakMap<QueryRunner, Promise<unknown>>();

/**
 * Calls `act` with a function to call before it reads. Answers are then complete, with all characters, for any
 * settings of the caller's session, which get their values back afterwards.
 */
export function withCompleteAnswers<T>(
  runner: QueryRunner,
  act: (beforeRead: () => Promise<void>) => Promise<T>,
): Promise<T> {
  // One call after another: a call would otherwise restore the settings while another one reads.
  const turn = (turns.get(runner) ?? Promise.resolve()).then(() => inSession(runner, act));
  turns.set(
    runner,
    turn.catch(() => undefined),
  );
  return turn;
}

async function inSession<T>(runner: QueryRunner, act: (beforeRead: () => Promise<void>) => Promise<T>): Promise<T> {
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
