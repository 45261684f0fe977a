import type { Rescued, RescueRules } from '../job-store.js';
import { LAPSED_COLUMNS, takeFrom, type LapsedClaim } from './rescue.js';
import { change, query, together, type Work } from './statement.js';

// A lock that nobody hears of holds up nobody, and the leases of its claims lapse as any others: so it may outlive them. A
// connection must not be closed because a handler computes.
const SET_UP = `
  SET SESSION wait_timeout = 3600
    /*M! , idle_transaction_timeout = 0, idle_readonly_transaction_timeout = 0, idle_write_transaction_timeout = 0 */`;

const ADD = `
  INSERT INTO {locks} (id, worker_id, locked_at)
  VALUES (:id, :workerId, :now)`;

const HOLD = `
  SELECT id
  FROM {locks} FORCE INDEX (PRIMARY)
  WHERE id = :id
  FOR UPDATE`;

// Changes nothing. A server that a failover has made read-only, where a lock means nothing any more, refuses it all the same.
const KEEP = `
  DELETE {locks} FROM {locks} FORCE INDEX (PRIMARY)
  WHERE id = 0`;

const REMOVE = `
  DELETE {locks} FROM {locks} FORCE INDEX (PRIMARY)
  WHERE id = :id`;

const ALL = `
  SELECT id
  FROM {locks}`;

const WITHOUT_LOCK = `
  SELECT c.id, c.lock_id
  FROM {claims} c
  WHERE c.lock_id > 0
    AND NOT EXISTS (SELECT 1 FROM {locks} l WHERE l.id = c.lock_id)`;

const CLAIMS_OF = `
  SELECT id, lock_id
  FROM {claims}
  WHERE lock_id IN (:ids)`;

// One by one: both servers read a tiny table from end to end where several keys are asked for.
const LOCK_IF_FREE = `
  SELECT id
  FROM {locks} FORCE INDEX (PRIMARY)
  WHERE id = :id
  FOR UPDATE SKIP LOCKED`;

const THERE = `
  SELECT id
  FROM {locks}
  WHERE id = :id`;

// It stays where a handler's transaction has one of its jobs locked. Its worker may not know yet that its lock is gone.
const LAPSE = `
  UPDATE {claims} FORCE INDEX (PRIMARY)
  SET lease_until = :now
  WHERE id = :id`;

const LOCK_CLAIM = `
  SELECT ${LAPSED_COLUMNS}
  FROM {claims} FORCE INDEX (PRIMARY)
  WHERE id = :id AND lock_id = :lockId
  FOR UPDATE SKIP LOCKED`;

/** A claim whose worker's lock is free, or was when somebody looked. */
export interface FreeClaim {
  readonly id: number;
  readonly lockId: number;
}

/**
 * Writes the row of a lock and locks it, for as long as the connection lasts. False where somebody took it for left over in
 * between: then it has to be another one. No claim names it before it is held, so nothing is lost by that.
 */
export function* takeLock(id: number, workerId: string): Work<boolean> {
  yield* query(SET_UP);
  yield* change(ADD, { id, workerId });
  const [, held] = yield* together([
    { sql: 'START TRANSACTION', values: {} },
    { sql: HOLD, values: { id } },
  ]);
  return held!.rows.length > 0;
}

/** On the lock's own connection. False where somebody could remove its row, and so it has not been held all the time. */
export function* keepLock(id: number): Work<boolean> {
  const [, held] = yield* together([
    { sql: KEEP, values: {} },
    { sql: HOLD, values: { id } },
  ]);
  return held!.rows.length > 0;
}

/** On the lock's own connection. */
export function* endLock(id: number): Work<void> {
  yield* together([
    { sql: REMOVE, values: { id } },
    { sql: 'COMMIT', values: {} },
  ]);
}

/** Locks that nobody holds, and claims that name those or none that there is. Nothing is locked any more afterwards. */
export function* findFree(): Work<{ locks: readonly number[]; claims: readonly FreeClaim[] }> {
  const [all, left] = yield* together([
    { sql: ALL, values: {} },
    { sql: WITHOUT_LOCK, values: {} },
  ]);
  const known = all!.rows.map(({ id }) => Number(id));
  const free = yield* together(known.map((id) => ({ sql: LOCK_IF_FREE, values: { id } })));
  const locks = known.filter((_, index) => free[index]!.rows.length > 0);
  const named = locks.length > 0 ? yield* query<Record<string, unknown>>(CLAIMS_OF, { ids: locks }) : [];
  const claims = [...left!.rows, ...named].map(({ id, lock_id }) => ({ id: Number(id), lockId: Number(lock_id) }));
  return { locks, claims };
}

/** Rescues the claim's jobs if its lock is free. Locks the lock, and then what everybody does, in the common order. */
export function* rescueFree({ id, lockId }: FreeClaim, rules: RescueRules): Work<Rescued[]> {
  if (!(yield* lockIfFree(lockId)) && (yield* query(THERE, { id: lockId })).length > 0) return [];
  const [claim] = yield* query<LapsedClaim>(LOCK_CLAIM, { id, lockId });
  if (!claim) return [];
  const rescued = yield* takeFrom(claim, rules);
  yield* change(LAPSE, { id });
  return rescued;
}

/** Removes a lock that nobody holds and no claim names. */
export function* removeFree(id: number): Work<void> {
  if (!(yield* lockIfFree(id))) return;
  if ((yield* query(CLAIMS_OF, { ids: [id] })).length === 0) yield* change(REMOVE, { id });
}

function* lockIfFree(id: number): Work<boolean> {
  return (yield* query(LOCK_IF_FREE, { id })).length > 0;
}
