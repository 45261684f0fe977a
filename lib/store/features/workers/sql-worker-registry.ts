import { deleteFrom, execute, query, type Work } from '../../core/statement.js';
import { addServedQueues, markQueuesServed } from '../queues/queue-registration.js';
import type { StoreParts } from '../../rows/store-parts.js';
import type { WorkerRegistration, WorkerRegistry } from './worker-registry.js';

const REGISTER = `
  INSERT INTO {workers} (id, host, pid, queues, slots, excluded, started_at, seen_at)
  VALUES (:id, :host, :pid, :queues, :slots, :excluded, :now, :now)`;

const SET_QUEUES = `
  UPDATE {workers} {by primary}
  SET queues = :queues
  WHERE id = :id`;

const MARK_SEEN = `
  UPDATE {workers} {by primary}
  SET seen_at = :now
  WHERE id = :id`;

const DEREGISTER = deleteFrom('workers', 'id = :id');

// A killed process never deregisters. Its rows stay for a day, for operators to read.
const IS_STALE = 'seen_at < :now - 86400000';

const staleIn = (table: string) => `
  SELECT id
  FROM {${table}}
  WHERE ${IS_STALE}`;

export function sqlWorkerRegistry(parts: StoreParts): WorkerRegistry {
  const { database } = parts;
  return {
    async register(worker) {
      await addServedQueues(parts, [...worker.queues.keys()]);
      await database.transaction(() => registerWorker(worker));
    },

    async setQueues(id, queues) {
      await markQueuesServed(parts, [...queues.keys()]);
      await database.runIdempotent(() => execute(SET_QUEUES, { id, queues: slotsText(queues) }));
    },

    markSeen: (workerId) => database.runIdempotent(() => markWorkerSeen(workerId)),

    async deregister(id) {
      await database.runIdempotent(() => execute(DEREGISTER, { id }));
    },
  };
}

function* registerWorker(worker: WorkerRegistration): Work<void> {
  for (const table of ['workers', 'commit_log'] as const) {
    const ids = (yield* query<{ id: string | number }>(staleIn(table)))
      .map(({ id }) => id)
      .sort((a, b) => (a < b ? -1 : 1));
    if (ids.length > 0) yield* execute(deleteFrom(table, `id IN (:ids) AND ${IS_STALE}`), { ids });
  }
  // After a lost answer the row may exist already.
  yield* execute(DEREGISTER, { id: worker.id });
  const { queues, slots = null, excluded = [] } = worker;
  const names = { queues: slotsText(queues), excluded: excluded.length > 0 ? JSON.stringify(excluded) : null };
  yield* execute(REGISTER, { ...worker, ...names, slots });
}

function slotsText(queues: ReadonlyMap<string, number>): string {
  return JSON.stringify(Object.fromEntries(queues));
}

export function* markWorkerSeen(id: string): Work<boolean> {
  return (yield* execute(MARK_SEEN, { id })) > 0;
}
