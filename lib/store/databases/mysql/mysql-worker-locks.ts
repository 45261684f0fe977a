import { deleteFrom, execute, executeAll, query, statement, type Work } from '../../core/statement.js';
import type { WorkerLocks } from '../../rows/worker-locks.js';

// The server must not close the connection while a handler blocks the event loop. A lock that lasts too long is
// harmless: the leases of its claims expire anyway.
const CONFIGURE_SESSION = `
  SET SESSION wait_timeout = 3600
    /*M! , idle_transaction_timeout = 0, idle_readonly_transaction_timeout = 0, idle_write_transaction_timeout = 0 */`;

const ADD = `
  INSERT INTO {locks} (id, worker_id, locked_at)
  VALUES (:id, :workerId, :now)`;

const LOCK = `
  SELECT id
  FROM {locks} FORCE INDEX (PRIMARY)
  WHERE id = :id
  FOR UPDATE`;

// Deletes no row. A server that became read-only in a failover still rejects the DELETE, and locks on it are worthless.
const CHECK_WRITABLE = deleteFrom('locks', 'id = 0');
const DELETE = deleteFrom('locks', 'id = :id');

// One key per statement: with several keys both servers would scan the whole tiny table.
const LOCK_IF_FREE = `
  SELECT id
  FROM {locks} FORCE INDEX (PRIMARY)
  WHERE id = :id
  FOR UPDATE SKIP LOCKED`;

/** The lock is an open transaction that has locked one row. */
export const mysqlWorkerLocks = (open: WorkerLocks['open']): WorkerLocks => ({
  open,

  *acquire(id, workerId) {
    yield* query(CONFIGURE_SESSION);
    yield* execute(ADD, { id, workerId });
    const [, locked] = yield* executeAll([statement('START TRANSACTION'), statement(LOCK, { id })]);
    return locked!.rows.length > 0;
  },

  // The row is gone if the lock was lost.
  *check(id) {
    const [, locked] = yield* executeAll([statement(CHECK_WRITABLE), statement(LOCK, { id })]);
    return locked!.rows.length > 0;
  },

  *release(id): Work<void> {
    yield* executeAll([statement(DELETE, { id }), statement('COMMIT')]);
  },

  lockIfFree: LOCK_IF_FREE,
});
