import { bury } from './bury.js';
import { CLAIMED_COLUMNS, type ClaimedRow } from './claimed-row.js';
import { change, query, type Work } from './statement.js';

// Ids that numbers cannot hold exactly, which only another program can have written. Statements name such rows by their range
// and, as texts, one by one.
const HIGHEST = Number.MAX_SAFE_INTEGER;
const UNNAMEABLE = `(id > ${HIGHEST} OR id < ${-HIGHEST})`;
const AT_A_TIME = 100;

// Waits for another process that is at the same ones: what it skipped would be seen again, and stop the next claim.
const LOCK = `
  SELECT ${CLAIMED_COLUMNS}, queue, CAST(id AS CHAR) AS text
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE ${UNNAMEABLE}
  LIMIT ${AT_A_TIME} /*! FOR UPDATE */`;

const REMOVE = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE ${UNNAMEABLE} AND CAST(id AS CHAR) IN (:texts)`;

const LAST_IDS = `
  SELECT (SELECT MAX(id) FROM {jobs} WHERE id <= ${HIGHEST}) AS live,
         (SELECT MAX(id) FROM {history} WHERE id <= ${HIGHEST}) AS finished`;

/**
 * Jobs whose ids no number can hold become dead, under the next ids that are free: the server goes on behind such an id, so
 * nothing else gets these.
 */
export function* buryUnnameable(): Work<number> {
  const rows = yield* query<ClaimedRow & { queue: string; text: string }>(LOCK);
  if (rows.length === 0) return 0;
  yield* change(REMOVE, { texts: rows.map(({ text }) => text) });
  const [last] = yield* query<{ live: number | null; finished: number | null }>(LAST_IDS);
  const from = Math.max(Number(last!.live), Number(last!.finished)) + 1;
  yield* bury(
    rows.map((row, index) => ({
      row: { ...row, id: from + index },
      column: 'id',
      problem: `expected ${-HIGHEST} to ${HIGHEST}, got ${row.text}`,
    })),
  );
  return rows.length;
}
