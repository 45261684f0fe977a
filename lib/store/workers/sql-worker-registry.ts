import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { deleteFrom, execute, query, queryIds, type Work } from '../core/statement.js';
import { addQueues } from '../topics/queue-registration.js';
import type { WorkerRegistration, WorkerRegistry } from './worker-registry.js';

const REGISTER = `
  INSERT INTO {workers} (id, host, pid, queues, started_at, seen_at)
  VALUES (:id, :host, :pid, :queues, :now, :now)`;

const SET_QUEUES = `
  UPDATE {workers} /*! FORCE INDEX (PRIMARY) */
  SET queues = :queues
  WHERE id = :id`;

const MARK_SEEN = `
  UPDATE {workers} /*! FORCE INDEX (PRIMARY) */
  SET seen_at = :now
  WHERE id = :id`;

const DEREGISTER = deleteFrom('workers', 'id = :id');

// A killed process never deregisters. Its row stays for a day, for operators to read.
const STALE_WORKERS = `
  SELECT id
  FROM {workers}
  WHERE seen_at < :now - 86400000`;

const DELETE_STALE_WORKERS = deleteFrom('workers', 'id IN (:ids)');

const STALE_COMMIT_LANES = `
  SELECT id
  FROM {commit_log}
  WHERE seen_at < :now - 86400000`;

const DELETE_STALE_COMMIT_LANES = deleteFrom('commit_log', 'id IN (:ids) AND seen_at < :now - 86400000');

export function sqlWorkerRegistry(database: SqlDatabase, dialect: Dialect): WorkerRegistry {
  return {
    async register(worker) {
      await addQueues(database, dialect, worker.queues);
      await database.transaction(() => registerWorker(worker));
    },

    async setQueues(id, queues) {
      await database.runIdempotent(() => execute(SET_QUEUES, { id, queues: JSON.stringify(queues) }));
    },

    markSeen: (workerId) => database.runIdempotent(() => markWorkerSeen(workerId)),

    async deregister(id) {
      await database.runIdempotent(() => execute(DEREGISTER, { id }));
    },
  };
}

function* registerWorker(worker: WorkerRegistration): Work<void> {
  const staleWorkers = yield* query<{ id: string }>(STALE_WORKERS);
  if (staleWorkers.length > 0) yield* execute(DELETE_STALE_WORKERS, { ids: staleWorkers.map(({ id }) => id).sort() });
  const staleLanes = yield* queryIds(STALE_COMMIT_LANES);
  if (staleLanes.length > 0) yield* execute(DELETE_STALE_COMMIT_LANES, { ids: staleLanes });
  // After a lost answer the row may exist already.
  yield* execute(DEREGISTER, { id: worker.id });
  yield* execute(REGISTER, { ...worker, queues: JSON.stringify(worker.queues) });
}

export function* markWorkerSeen(id: string): Work<void> {
  yield* execute(MARK_SEEN, { id });
}
