import { ascending } from '../core/safe-id.js';
import { deleteFrom } from '../core/statement.js';

// The conditions that are always true keep both servers from scanning a small table: see UNREGISTER in sql-wait-store.ts.
const DELETE_PROGRESS = deleteFrom('progress', 'job_id IN (:ids) AND updated_at > 0');

const DELETE_LINES = deleteFrom('logs', 'job_id = :id AND number >= 1 AND logged_at > 0');

/** Every job with lines has a row of progress. */
export function jobLogDeletions(ids: readonly number[]) {
  const inOrder = ascending(ids);
  return [
    { sql: DELETE_PROGRESS, values: { ids: inOrder } },
    ...inOrder.map((id) => ({ sql: DELETE_LINES, values: { id } })),
  ];
}
