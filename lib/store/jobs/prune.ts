import { idsOf, withSafeIds } from '../core/safe-id.js';
import { execute, Ids, query, type Work } from '../core/statement.js';

// Skips rows that another transaction has locked, so that they delay no other row. The locks end with the statement.
const EXPIRED = `
  SELECT id
  FROM {history} /*! FORCE INDEX ({history}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

const DELETE_EXPIRED = `
  DELETE /*! {history} */ FROM {history} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND expires_at <= :now`;

export function* prune(limit: number): Work<number> {
  const expired = withSafeIds(yield* query<{ id: number }>(EXPIRED, { limit }));
  if (expired.length === 0) return 0;
  return yield* execute(DELETE_EXPIRED, { ids: new Ids(idsOf(expired)) });
}
