import { batchesOf, groupBy } from '../../../common/lists.js';
import type { Subscription } from '../../../job/topics.js';
import type { DeclaredQueue, SubscriptionRecord } from './queue-store.js';
import type { Dialect } from '../../core/sql-database.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { deleteFrom, execute, query, type Work } from '../../core/statement.js';
import { deleteLimits } from '../limits/sql-limit-store.js';
import { addSubscriptions, deleteSubscriptions, isKnown, subscriptionsOfQueues } from './subscriptions.js';

// A transaction locks the row of a queue before its subscriptions. It never locks claims, jobs or history as well, so
// these tables have no place in the common lock order.

const EXPIRIES = `
  SELECT queue, expires_after_ms
  FROM {queues}
  WHERE queue IN (:queues)`;

const KNOWN_QUEUES = `
  SELECT queue
  FROM {queues}
  WHERE queue IN (:queues)`;

const SERVED_QUEUES = `
  SELECT queue
  FROM {queues}
  WHERE queue IN (:queues) AND served_at IS NOT NULL`;

const MARK_SERVED = `
  UPDATE {queues} {by primary}
  SET served_at = :now
  WHERE queue IN (:queues) AND served_at IS NULL`;

const DECLARE = `
  UPDATE {queues} {by primary}
  SET expires_after_ms = :expiresAfterMs, used_at = :now, served_at = COALESCE(served_at, :now)
  WHERE queue = :queue`;

const MARK_USED = `
  UPDATE {queues} {by primary}
  SET used_at = :now
  WHERE queue IN (:queues)`;

// NULL for a queue that is not temporary. Also NULL if another program has written times whose sum overflows, because
// the error would fail the statement for all queues.
export const expiresAt = (row: string, divisor = 1) => `
  CASE WHEN ${row}used_at BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER} AND ${row}expires_after_ms BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}
       THEN ${row}used_at + ${row}expires_after_ms / ${divisor} END`;

// The row has the pause and the hours of an administrator, which must outlast any time without workers. Searches the text,
// because malformed JSON of another program would fail the statement for all queues.
const isRestricted = (row: string) => `(${row}paused <> 0 OR INSTR(COALESCE(${row}settings, ''), '"enabled"') > 0)`;

const EXPIRED = `
  SELECT q.queue
  FROM {queues} q
  WHERE ${expiresAt('q.')} <= :now AND NOT ${isRestricted('q.')}
    AND NOT EXISTS (SELECT 1 FROM {jobs} j WHERE j.queue = q.queue)
  ORDER BY q.queue`;

// Skips a queue that another transaction has locked, so that it does not delay the others. The next round examines it.
const LOCK_EXPIRED = `
  SELECT expires_after_ms
  FROM {queues} {by primary}
  WHERE queue = :queue AND ${expiresAt('')} <= :now AND NOT ${isRestricted('')} {lock free}`;

const HAS_JOBS = `
  SELECT id
  FROM {jobs}
  WHERE queue = :queue
  LIMIT 1`;

// Only a process that declares the queue as temporary records its use. A worker of another process may serve it too.
const HAS_WORKER = `
  SELECT id
  FROM {workers}
  WHERE seen_at + :expiresAfterMs > :now AND INSTR(queues, :quoted) > 0
  LIMIT 1`;

const QUEUE_BATCH_SIZE = 500;

const DELETE_QUEUE = deleteFrom('queues', 'queue = :queue');

type AddingParts = Pick<StoreParts, 'database' | 'blocking' | 'dialect'>;

export function addQueues(parts: AddingParts, queues: readonly string[]): Promise<void> {
  return writeUnless(KNOWN_QUEUES, parts, queues, (unknown) => parts.dialect.addQueues(unknown));
}

/** Adds the queues of a worker. */
export function addServedQueues(parts: AddingParts, queues: readonly string[]): Promise<void> {
  return writeUnless(SERVED_QUEUES, parts, queues, function* (unserved) {
    yield* parts.dialect.addQueues(unserved);
    yield* execute(MARK_SERVED, { queues: unserved });
  });
}

/** Adds no rows: a queue that was obliterated while its worker runs stays away. */
export function markQueuesServed(parts: AddingParts, queues: readonly string[]): Promise<void> {
  return writeUnless(SERVED_QUEUES, parts, queues, (unserved) => execute(MARK_SERVED, { queues: unserved }));
}

/**
 * Reads first, so that only the first worker of a queue writes. The write waits for a caller's transaction that has
 * added the queue.
 */
async function writeUnless(
  done: string,
  { database, blocking }: AddingParts,
  queues: readonly string[],
  write: (queues: readonly string[]) => Work<unknown>,
): Promise<void> {
  if (queues.length === 0) return;
  const found = await database.runIdempotent(() => query<{ queue: string }>(done, { queues }));
  const isDone = new Set(found.map(({ queue }) => queue));
  const others = queues.filter((queue) => !isDone.has(queue)).sort();
  for (const batch of batchesOf(others, QUEUE_BATCH_SIZE)) await blocking.runIdempotent(() => write(batch));
}

/**
 * For work on the row of a queue, which a new queue does not have yet.
 *
 * @param work returns 0 or undefined if there is no row. Then the row is added, and the work runs again
 */
export function* orAddQueue<T>(dialect: Pick<Dialect, 'addQueues'>, queue: string, work: () => Work<T>): Work<T> {
  const found = yield* work();
  if (found) return found;
  yield* dialect.addQueues([queue]);
  return yield* work();
}

/**
 * Compares without locks, so that a worker that restarts without changes writes nothing. Returns in `toWrite` the
 * declarations that differ from the database, or whose use must be recorded.
 */
export function* diffDeclarations(
  declared: readonly DeclaredQueue[],
): Work<{ toWrite: readonly DeclaredQueue[]; undeclared: SubscriptionRecord[] }> {
  if (declared.length === 0) return { toWrite: [], undeclared: [] };
  const queues = declared.map(({ queue }) => queue);
  const rows = yield* query<{ queue: string; expires_after_ms: number | null }>(EXPIRIES, { queues });
  const known = yield* subscriptionsOfQueues(queues);
  const knownOf = groupBy(known, ({ queue }) => queue);
  const isTemporary = new Set(rows.filter((row) => row.expires_after_ms !== null).map(({ queue }) => queue));
  const toWrite = declared.filter(
    ({ queue, expiresAfterMs, subscriptions }) =>
      expiresAfterMs !== null ||
      isTemporary.has(queue) ||
      !subscriptions.every((subscription) => isKnown(knownOf.get(queue) ?? [], subscription)),
  );
  const declaredTopics = new Set(
    declared.flatMap(({ queue, subscriptions }) => subscriptions.map(({ topic }) => `${queue} ${topic}`)),
  );
  return { toWrite, undeclared: known.filter(({ queue, topic }) => !declaredTopics.has(`${queue} ${topic}`)) };
}

export function* declareQueue(dialect: Dialect, { queue, expiresAfterMs, subscriptions }: DeclaredQueue): Work<void> {
  yield* orAddQueue(dialect, queue, () => execute(DECLARE, { queue, expiresAfterMs }));
  yield* addSubscriptions(queue, subscriptions);
}

export function* subscribe(dialect: Dialect, queue: string, subscriptions: readonly Subscription[]): Work<void> {
  yield* orAddQueue(dialect, queue, () => execute(MARK_USED, { queues: [queue] }));
  yield* addSubscriptions(queue, subscriptions);
}

export function* markQueuesUsed(queues: readonly string[]): Work<boolean> {
  if (queues.length === 0) return true;
  return (yield* execute(MARK_USED, { queues: [...queues].sort() })) === queues.length;
}

/** Reads without locks. `expireQueue` locks each queue and checks it again. */
export function* findExpiredQueues(): Work<string[]> {
  return (yield* query<{ queue: string }>(EXPIRED)).map(({ queue }) => queue);
}

/** False if the queue was used meanwhile, or another transaction has locked it. */
export function* expireQueue(queue: string): Work<boolean> {
  const [row] = yield* query<{ expires_after_ms: number }>(LOCK_EXPIRED, { queue });
  if (!row) return false;
  // From here on, a transaction that uses the queue waits for this one.
  const expiresAfterMs = Number(row.expires_after_ms);
  if ((yield* query(HAS_JOBS, { queue })).length > 0) return false;
  if ((yield* query(HAS_WORKER, { expiresAfterMs, quoted: JSON.stringify(queue) })).length > 0) return false;
  yield* deleteSubscriptions(queue);
  yield* deleteLimits(queue);
  return yield* deleteQueue(queue);
}

export function* deleteQueue(queue: string): Work<boolean> {
  return (yield* execute(DELETE_QUEUE, { queue })) === 1;
}
