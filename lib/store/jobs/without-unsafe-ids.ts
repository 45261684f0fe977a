import { UnsafeJobIdError } from '../../job/errors.js';
import type { SqlDatabase } from '../core/sql-database.js';
import { execute, query, type Work } from '../core/statement.js';
import { CLAIMED_COLUMNS, type ClaimedRow } from './claimed-row.js';
import { markMalformedDead } from './mark-malformed-dead.js';

// Only another program can have written such an id, which a number cannot hold exactly. Statements select these rows by
// range, and single rows by the id as a text.
const MAX_ID = Number.MAX_SAFE_INTEGER;
const HAS_UNSAFE_ID = `(id > ${MAX_ID} OR id < ${-MAX_ID})`;
const BATCH_SIZE = 100;

// Waits for another process that cleans up the same rows. If it skipped them, the next claim would fail on them again.
const LOCK = `
  SELECT ${CLAIMED_COLUMNS}, queue, CAST(id AS CHAR) AS text
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE ${HAS_UNSAFE_ID}
  LIMIT ${BATCH_SIZE} /*! FOR UPDATE */`;

const REMOVE = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE ${HAS_UNSAFE_ID} AND CAST(id AS CHAR) IN (:texts)`;

const LAST_IDS = `
  SELECT (SELECT MAX(id) FROM {jobs} WHERE id <= ${MAX_ID}) AS live,
         (SELECT MAX(id) FROM {history} WHERE id <= ${MAX_ID}) AS finished`;

// Each try moves one batch of such jobs out of the way.
const MAX_TRIES = 10;

/** Repeats the work after jobs whose ids no number can represent were made dead, because the work cannot name them. */
export async function withoutUnsafeIds<T>(
  database: Pick<SqlDatabase, 'transaction'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnsafeJobIdError) || tries === MAX_TRIES) throw error;
      await database.transaction(markUnsafeIdsDead, 1);
    }
  }
}

/** The jobs receive the next free ids. No new job can get these: the server continues after the largest id. */
function* markUnsafeIdsDead(): Work<number> {
  const rows = yield* query<ClaimedRow & { queue: string; text: string }>(LOCK);
  if (rows.length === 0) return 0;
  yield* execute(REMOVE, { texts: rows.map(({ text }) => text) });
  const [last] = yield* query<{ live: number | null; finished: number | null }>(LAST_IDS);
  const from = Math.max(Number(last!.live), Number(last!.finished)) + 1;
  yield* markMalformedDead(
    rows.map((row, index) => ({
      row: { ...row, id: from + index },
      column: 'id',
      problem: `expected ${-MAX_ID} to ${MAX_ID}, got ${row.text}`,
    })),
  );
  return rows.length;
}
