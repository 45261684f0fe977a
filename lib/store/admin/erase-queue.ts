import { deleteFrom, query, statement, executeInBatches, type SqlValue, type Work } from '../core/statement.js';
import { deleteLimits } from '../features/limits/sql-limit-store.js';
import type { Tables } from '../tables/table-names.js';
import { deleteQueue } from '../features/queues/queue-registration.js';
import { deleteSubscriptions } from '../features/queues/subscriptions.js';

/** Deletes rows of a queue, at most `limit`, and returns their number. */
type Eraser = (queue: string, limit: number) => Work<number>;

/** One for each table whose rows name a queue and outlive its jobs. Each call is a transaction. */
export const ERASERS: readonly Eraser[] = [
  // Without an index on the queue: a schedule is one row of a small table.
  eraser('schedules', ['name'], deleteFrom('schedules', 'name = :name')),
  eraser('keys', ['key_hash'], deleteFrom('keys', 'queue = :queue AND key_hash IN (:key_hash)')),
  eraser('groups', ['group_key'], deleteFrom('groups', 'queue = :queue AND group_key = :group_key')),
  eraser(
    'metrics',
    ['step_ms', 'starts_at', 'recorder'],
    deleteFrom('metrics', 'queue = :queue AND step_ms = :step_ms AND starts_at = :starts_at AND recorder = :recorder'),
  ),
  eraser(
    'errors',
    ['step_ms', 'starts_at', 'recorder', 'error'],
    deleteFrom(
      'errors',
      'queue = :queue AND step_ms = :step_ms AND starts_at = :starts_at AND recorder = :recorder AND error = :error',
    ),
  ),
];

/** The last transaction: a queue that still has its row is not obliterated yet. */
export function* eraseQueue(queue: string): Work<void> {
  // In this order: see queue-registration.ts.
  yield* deleteQueue(queue);
  yield* deleteSubscriptions(queue);
  yield* deleteLimits(queue);
}

/** @param key the columns of the primary key beside the queue */
function eraser(table: keyof Tables, key: readonly string[], remove: string): Eraser {
  const columns = key.join(', ');
  const sql = `
    SELECT ${columns}
    FROM {${table}} {by primary}
    WHERE queue = :queue
    ORDER BY ${columns}
    LIMIT :limit`;
  return function* (queue, limit) {
    const rows = yield* query<Record<string, SqlValue>>(sql, { queue, limit });
    yield* executeInBatches(rows.map((row) => statement(remove, { ...row, queue })));
    return rows.length;
  };
}
