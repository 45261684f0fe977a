import { idOf, forgetKeys, keepKeys, lockFreeKeys, type KeyName, type KeyRow } from './key-rows.js';
import { query, type Work } from './statement.js';

// Passes over rows that another transaction has locked, however many, so that they keep no others. With the job's id, although
// nothing here needs it: MySQL reads a small index from end to end if it can answer from the index alone.
const UNUSED = `
  SELECT queue, key_hash AS hash, job_id
  FROM {keys} /*! FORCE INDEX ({keys}_unused) */
  WHERE kept_until <= :now
  ORDER BY kept_until
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

/** Whether there is a key to look at. The lock ends with the statement. */
export function* hasUnusedKeys(): Work<boolean> {
  return (yield* query(UNUSED, { limit: 1 })).length > 0;
}

/** Deletes unused keys, at most `limit`. A key that is held is looked at again in an hour. */
export function* pruneKeys(limit: number): Work<number> {
  const unused = [...(yield* query<KeyName>(UNUSED, { limit }))].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  if (unused.length === 0) return 0;
  const { locked, rows } = yield* lockFreeKeys(unused);
  const ours = [...rows.values()].filter(({ key, keptMs }) => locked.has(idOf(key)) && keptMs <= 0);
  yield* keepKeys(inOrder(ours.filter(isWanted)));
  yield* forgetKeys(inOrder(ours.filter((row) => !isWanted(row))));
  return unused.length;
}

// A job that has begun holds no key until it has started, but may be released as if it had not.
function isWanted({ hasTime, job }: KeyRow): boolean {
  return hasTime || job !== undefined;
}

function inOrder(rows: readonly KeyRow[]): KeyName[] {
  return rows.map(({ key }) => key).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}
