import { randomId } from '../../job/random-id.js';
import type { Clock } from '../../common/clock.js';
import type { StoreParts } from '../rows/store-parts.js';
import type { WorkerLock, WorkerLockStore } from './worker-lock-store.js';
import { withTimeout } from '../../common/with-timeout.js';
import { withRetry } from '../core/with-retry.js';
import { endLease } from '../rows/lease.js';
import { rescueEach, EXPIRED_CLAIM_COLUMNS, rescueJobsOf, type ExpiredClaim } from './rescue.js';
import type { DedicatedConnection } from '../core/sql-database.js';
import type { RescuedJob, RescueRules } from './job-store.js';
import { statement, deleteFrom, execute, query, executeAll, type Work } from '../core/statement.js';

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
const DELETE_LOCK = deleteFrom('locks', 'id = :id');

const ALL_LOCKS = `
  SELECT id
  FROM {locks}`;

const CLAIMS_WITHOUT_LOCK = `
  SELECT c.id, c.lock_id
  FROM {claims} c
  WHERE c.lock_id > 0
    AND NOT EXISTS (SELECT 1 FROM {locks} l WHERE l.id = c.lock_id)`;

const CLAIMS_OF = `
  SELECT id, lock_id
  FROM {claims}
  WHERE lock_id IN (:ids)`;

// One key per statement: with several keys both servers would scan the whole tiny table.
const LOCK_IF_FREE = `
  SELECT id
  FROM {locks} FORCE INDEX (PRIMARY)
  WHERE id = :id
  FOR UPDATE SKIP LOCKED`;

const LOCK_ROW = `
  SELECT id
  FROM {locks}
  WHERE id = :id`;

const LOCK_CLAIM = `
  SELECT ${EXPIRED_CLAIM_COLUMNS}
  FROM {claims} FORCE INDEX (PRIMARY)
  WHERE id = :id AND lock_id = :lockId
  FOR UPDATE SKIP LOCKED`;

const RELEASE_TIMEOUT_MS = 1_000;

/** Worker locks as row locks, each on a connection of its own. Needs a database with row locks. */
export function sqlWorkerLockStore(
  { database, scanCursors, clock }: StoreParts,
  openDedicated: () => Promise<DedicatedConnection>,
): WorkerLockStore {
  return {
    acquire: (workerId) =>
      withRetry(clock, async () => {
        for (;;) {
          const connection = await openDedicated();
          try {
            const id = randomId();
            if (await connection.send(() => acquireLock(id, workerId))) return new SqlWorkerLock(id, connection, clock);
          } catch (error) {
            connection.drop();
            throw error;
          }
          connection.drop();
        }
      }),

    async rescue(rules, onRescued) {
      const { locks, claims } = await database.runIdempotent(findOrphans);
      const rescued = await rescueEach(
        claims.filter(({ id }) => !rules.isHeld(id)),
        rules,
        (claim, decided) => database.transaction(() => rescueOrphan(claim, decided)),
        (jobs) => {
          scanCursors.reset();
          onRescued?.(jobs);
        },
      );
      // If a DELETE fails, the next rescue repeats it.
      for (const id of locks) await database.transaction(() => deleteFreeLock(id)).catch(() => undefined);
      return rescued;
    },
  };
}

/** An open transaction that has locked one row. It ends with its connection, which ends with the process. */
class SqlWorkerLock implements WorkerLock {
  readonly #lost = new AbortController();
  readonly #whenLost: Promise<void>;

  constructor(
    readonly id: number,
    private readonly connection: DedicatedConnection,
    private readonly clock: Clock,
  ) {
    this.#whenLost = new Promise((resolve) =>
      this.lostSignal.addEventListener('abort', () => resolve(), { once: true }),
    );
    connection.onEnd(() => this.#lose());
  }

  get lostSignal(): AbortSignal {
    return this.#lost.signal;
  }

  async ping(): Promise<void> {
    const check = this.connection.send(() => checkLock(this.id)).catch(() => false);
    // The driver never calls back for statements that were running when the connection was dropped.
    await Promise.race([check.then((isLocked) => isLocked || this.#lose()), this.#whenLost]);
  }

  async release(): Promise<void> {
    // If the DELETE fails, the next rescue deletes the row.
    const deleted = this.connection.send(() => releaseLock(this.id)).catch(() => undefined);
    await withTimeout(this.clock, RELEASE_TIMEOUT_MS, Promise.race([deleted, this.#whenLost]));
    this.#lose();
  }

  #lose(): void {
    this.connection.drop();
    this.#lost.abort();
  }
}

/** A claim whose worker lock was free when it was read. */
type OrphanedClaim = Readonly<{ id: number; lockId: number }>;

/**
 * Writes the row of a lock and locks it until the connection ends. Returns false if a rescue deleted the row in
 * between: then use a new id. No claim names the lock before it is acquired, so no job is affected.
 */
function* acquireLock(id: number, workerId: string): Work<boolean> {
  yield* query(CONFIGURE_SESSION);
  yield* execute(ADD, { id, workerId });
  const [, locked] = yield* executeAll([statement('START TRANSACTION'), statement(LOCK, { id })]);
  return locked!.rows.length > 0;
}

/** Run it on the lock's own connection. Returns false if the row is gone, so the lock was lost at some time. */
function* checkLock(id: number): Work<boolean> {
  const [, locked] = yield* executeAll([statement(CHECK_WRITABLE), statement(LOCK, { id })]);
  return locked!.rows.length > 0;
}

/** Run it on the lock's own connection. */
function* releaseLock(id: number): Work<void> {
  yield* executeAll([statement(DELETE_LOCK, { id }), statement('COMMIT')]);
}

/** The free locks, and the claims that name a free or a missing lock. Keeps no row locked. */
function* findOrphans(): Work<{ locks: readonly number[]; claims: readonly OrphanedClaim[] }> {
  const [all, withoutLock] = yield* executeAll([statement(ALL_LOCKS), statement(CLAIMS_WITHOUT_LOCK)]);
  const ids = all!.rows.map(({ id }) => Number(id));
  const free = yield* executeAll(ids.map((id) => statement(LOCK_IF_FREE, { id })));
  const locks = ids.filter((_, index) => free[index]!.rows.length > 0);
  const withFreeLock = locks.length > 0 ? yield* query<Record<string, unknown>>(CLAIMS_OF, { ids: locks }) : [];
  const claims = [...withoutLock!.rows, ...withFreeLock].map(({ id, lock_id }) => ({
    id: Number(id),
    lockId: Number(lock_id),
  }));
  return { locks, claims };
}

/** Locks the worker lock, then claims, jobs and history in the common order. */
function* rescueOrphan({ id, lockId }: OrphanedClaim, rules: RescueRules): Work<RescuedJob[]> {
  if (!(yield* lockIfFree(lockId)) && (yield* query(LOCK_ROW, { id: lockId })).length > 0) return [];
  const [claim] = yield* query<ExpiredClaim>(LOCK_CLAIM, { id, lockId });
  if (!claim) return [];
  const rescued = yield* rescueJobsOf(claim, rules);
  // The claim stays if a handler's transaction has locked one of its jobs. Its worker may not know yet that the lock is
  // lost.
  yield* endLease(id);
  return rescued;
}

function* deleteFreeLock(id: number): Work<void> {
  if (!(yield* lockIfFree(id))) return;
  if ((yield* query(CLAIMS_OF, { ids: [id] })).length === 0) yield* execute(DELETE_LOCK, { id });
}

function* lockIfFree(id: number): Work<boolean> {
  return (yield* query(LOCK_IF_FREE, { id })).length > 0;
}
