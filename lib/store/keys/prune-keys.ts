import { deleteKeys, extendKeyRetention, inLockOrder, keyIdOf, lockKeysSkipLocked, type KeyRow } from './key-rows.js';
import { query, type Work } from '../core/statement.js';
import type { KeyName } from '../core/sql-database.js';

// Skips any number of locked rows, so that they do not delay the others. Selects job_id, which is unused here: if the
// index alone could answer the query, MySQL would scan the whole small index.
const UNUSED = `
  SELECT queue, key_hash AS hash, job_id
  FROM {keys} /*! FORCE INDEX ({keys}_unused) */
  WHERE kept_until <= :now
  ORDER BY kept_until
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

/** The lock ends with the statement. */
export function* hasUnusedKeys(): Work<boolean> {
  return (yield* query(UNUSED, { limit: 1 })).length > 0;
}

/** Returns the number of examined keys, at most `limit`. A key in use is examined again in an hour. */
export function* pruneKeys(limit: number): Work<number> {
  const unused = inLockOrder(yield* query<KeyName>(UNUSED, { limit }));
  if (unused.length === 0) return 0;
  const { locked, rows } = yield* lockKeysSkipLocked(unused);
  const prunable = [...rows.values()].filter(
    ({ key, remainingRetentionMs }) => locked.has(keyIdOf(key)) && remainingRetentionMs <= 0,
  );
  yield* extendKeyRetention(namesOf(prunable.filter(isInUse)));
  yield* deleteKeys(namesOf(prunable.filter((row) => !isInUse(row))));
  return unused.length;
}

// A started job does not own a key that is kept until `started`. The job may be released and own it again.
function isInUse({ hasTime, job }: KeyRow): boolean {
  return hasTime || job !== undefined;
}

function namesOf(rows: readonly KeyRow[]): KeyName[] {
  return inLockOrder(rows.map(({ key }) => key));
}
