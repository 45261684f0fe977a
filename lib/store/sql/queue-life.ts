import type { DeclaredQueue, SubscriptionRecord } from '../queue-store.js';
import type { Dialect } from './dialect.js';
import { change, query, type Work } from './statement.js';
import { addSubscriptions, endSubscriptions, isKnown, subscriptionsOfQueues } from './subscriptions.js';

// Whoever writes what a queue is known for locks its row first, and the subscriptions after it. No claim, job or history is
// ever locked along with these, so they have no place in that order.

const EXPIRIES = `
  SELECT queue, expires_after_ms
  FROM {queues}
  WHERE queue IN (:queues)`;

const DECLARE = `
  UPDATE {queues} /*! FORCE INDEX (PRIMARY) */
  SET expires_after_ms = :expiresAfterMs, used_at = :now
  WHERE queue = :queue`;

const USE = `
  UPDATE {queues} /*! FORCE INDEX (PRIMARY) */
  SET used_at = :now
  WHERE queue IN (:queues)`;

// Null for a queue that is not temporary, and where another program has written times of which the sum is no number: then
// the statement would fail for all queues.
const expiresAt = (row: string, share = 1) => `
  CASE WHEN ${row}used_at BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER} AND ${row}expires_after_ms BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}
       THEN ${row}used_at + ${row}expires_after_ms / ${share} END`;

// So often within its time a temporary queue is noted as used by whoever takes from it by hand.
const TAKEN_FROM = `
  SELECT paused, CASE WHEN ${expiresAt('', 4)} <= :now THEN 1 ELSE 0 END AS is_to_note
  FROM {queues}
  WHERE queue = :queue`;

// What somebody has paused stays paused, and stays.
const EXPIRED = `
  SELECT q.queue
  FROM {queues} q
  WHERE ${expiresAt('q.')} <= :now AND q.paused = 0
    AND NOT EXISTS (SELECT 1 FROM {jobs} j WHERE j.queue = q.queue)
  ORDER BY q.queue`;

// A queue that another transaction has locked is left for the next time, so that it does not keep the others.
const LOCK_EXPIRED = `
  SELECT expires_after_ms
  FROM {queues} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND ${expiresAt('')} <= :now AND paused = 0 /*! FOR UPDATE SKIP LOCKED */`;

const HAS_JOBS = `
  SELECT id
  FROM {jobs}
  WHERE queue = :queue
  LIMIT 1`;

// Where one process calls the queue temporary and another does not, this one does not say that it uses it.
const IS_WORKED = `
  SELECT id
  FROM {workers}
  WHERE seen_at + :expiresAfterMs > :now AND INSTR(queues, :quoted) > 0
  LIMIT 1`;

const REMOVE = `
  DELETE /*! {queues} */ FROM {queues} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue`;

export interface Declared {
  /** Those that the database does not know so, or that have to be noted as used. */
  readonly toWrite: readonly DeclaredQueue[];
  readonly unspoken: SubscriptionRecord[];
}

/** Compares without locks, so that a worker that starts again writes nothing. */
export function* compare(declared: readonly DeclaredQueue[]): Work<Declared> {
  if (declared.length === 0) return { toWrite: [], unspoken: [] };
  const queues = declared.map(({ queue }) => queue);
  const rows = yield* query<{ queue: string; expires_after_ms: number | null }>(EXPIRIES, { queues });
  const known = yield* subscriptionsOfQueues(queues);
  const isTemporary = new Set(rows.filter((row) => row.expires_after_ms !== null).map(({ queue }) => queue));
  const toWrite = declared.filter(
    ({ queue, expiresAfterMs, subscriptions }) =>
      expiresAfterMs !== null || isTemporary.has(queue) || !subscriptions.every((one) => isKnown(known, queue, one)),
  );
  const spoken = new Set(
    declared.flatMap(({ queue, subscriptions }) => subscriptions.map(({ topic }) => `${queue} ${topic}`)),
  );
  return { toWrite, unspoken: known.filter(({ queue, topic }) => !spoken.has(`${queue} ${topic}`)) };
}

export function* declareQueue(dialect: Dialect, { queue, expiresAfterMs, subscriptions }: DeclaredQueue): Work<void> {
  yield* orAdd(dialect, queue, () => change(DECLARE, { queue, expiresAfterMs }));
  yield* addSubscriptions(queue, subscriptions);
}

export function* subscribe(
  dialect: Dialect,
  { queue, subscriptions }: Pick<DeclaredQueue, 'queue' | 'subscriptions'>,
): Work<void> {
  yield* orAdd(dialect, queue, () => change(USE, { queues: [queue] }));
  yield* addSubscriptions(queue, subscriptions);
}

export function* useQueues(queues: readonly string[]): Work<boolean> {
  if (queues.length === 0) return true;
  return (yield* change(USE, { queues: [...queues].sort() })) === queues.length;
}

/** Whether it is not paused. One that nobody has used before has no row. */
export function* mayTake(queue: string): Work<boolean> {
  const [row] = yield* query<{ paused: number; is_to_note: number }>(TAKEN_FROM, { queue });
  if (!row || row.paused > 0) return !row;
  if (Number(row.is_to_note) === 1) yield* useQueues([queue]);
  return true;
}

/** Read without locks: each is locked and checked again by itself. */
export function* expiredQueues(): Work<string[]> {
  return (yield* query<{ queue: string }>(EXPIRED)).map(({ queue }) => queue);
}

/** False if it was used meanwhile, or another transaction has locked it. */
export function* expireQueue(queue: string): Work<boolean> {
  const [row] = yield* query<{ expires_after_ms: number }>(LOCK_EXPIRED, { queue });
  if (!row) return false;
  // From here on nobody uses it without waiting for this.
  const expiresAfterMs = Number(row.expires_after_ms);
  if ((yield* query(HAS_JOBS, { queue })).length > 0) return false;
  if ((yield* query(IS_WORKED, { expiresAfterMs, quoted: JSON.stringify(queue) })).length > 0) return false;
  yield* endSubscriptions(queue);
  return (yield* change(REMOVE, { queue })) === 1;
}

function* orAdd(dialect: Dialect, queue: string, note: () => Work<number>): Work<void> {
  if ((yield* note()) > 0) return;
  yield* dialect.addQueue(queue);
  yield* note();
}
