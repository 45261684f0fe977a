import { randomId } from '../../job/identifiers.js';
import type { Clock } from '../../common/clock.js';
import type { StoreParts } from '../rows/store-parts.js';
import type { WorkerLock, WorkerLockStore } from './worker-lock-store.js';
import { withTimeout } from '../../common/abort.js';
import { withRetry } from '../core/with-retry.js';
import { endLease } from '../rows/lease.js';
import { rescueEach, EXPIRED_CLAIM_COLUMNS, rescueJobsOf, type ExpiredClaim } from './rescue.js';
import type { DedicatedConnection } from '../core/sql-database.js';
import type { WorkerLocks } from '../rows/worker-locks.js';
import type { RescuedJob, RescueRules } from './job-store.js';
import { statement, deleteFrom, execute, query, executeAll, type Work } from '../core/statement.js';

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

const LOCK_ROW = `
  SELECT id
  FROM {locks}
  WHERE id = :id`;

const LOCK_CLAIM = `
  SELECT ${EXPIRED_CLAIM_COLUMNS}
  FROM {claims} {by primary}
  WHERE id = :id AND lock_id = :lockId
  {lock free}`;

const RELEASE_TIMEOUT_MS = 1_000;

/** Worker locks, each on a connection of its own. */
export function sqlWorkerLockStore(
  { database, scanCursors, clock }: StoreParts,
  workerLocks: WorkerLocks,
): WorkerLockStore {
  return {
    acquire: (workerId) =>
      withRetry(clock, async () => {
        for (;;) {
          const connection = await workerLocks.open();
          try {
            const id = randomId();
            if (await connection.send(() => workerLocks.acquire(id, workerId)))
              return new SqlWorkerLock(id, workerLocks, connection, clock);
          } catch (error) {
            connection.drop();
            throw error;
          }
          connection.drop();
        }
      }),

    async rescue(rules, onRescued) {
      const { locks, claims } = await database.runIdempotent(() => findOrphans(workerLocks));
      const rescued = await rescueEach(
        claims.filter(({ id }) => !rules.isHeld(id)),
        rules,
        (claim, decided) => database.transaction(() => rescueOrphan(workerLocks, claim, decided)),
        (jobs) => {
          scanCursors.moveBefore(jobs.map(({ job }) => job));
          onRescued?.(jobs);
        },
      );
      // If a DELETE fails, the next rescue repeats it.
      for (const id of locks) await database.transaction(() => deleteFreeLock(workerLocks, id)).catch(() => undefined);
      return rescued;
    },
  };
}

/** It ends with its connection, which ends with the process. */
class SqlWorkerLock implements WorkerLock {
  readonly #lost = new AbortController();
  readonly #whenLost: Promise<void>;

  constructor(
    readonly id: number,
    private readonly locks: WorkerLocks,
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
    const check = this.connection.send(() => this.locks.check(this.id)).catch(() => false);
    // The driver never calls back for statements that were running when the connection was dropped.
    await Promise.race([check.then((isLocked) => isLocked || this.#lose()), this.#whenLost]);
  }

  async release(): Promise<void> {
    // If the DELETE fails, the next rescue deletes the row.
    const deleted = this.connection.send(() => this.locks.release(this.id)).catch(() => undefined);
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

/** The free locks, and the claims that name a free or a missing lock. Keeps no row locked. */
function* findOrphans({
  lockIfFree,
}: WorkerLocks): Work<{ locks: readonly number[]; claims: readonly OrphanedClaim[] }> {
  const [all, withoutLock] = yield* executeAll([statement(ALL_LOCKS), statement(CLAIMS_WITHOUT_LOCK)]);
  const ids = all!.rows.map(({ id }) => Number(id));
  const free = yield* executeAll(ids.map((id) => statement(lockIfFree, { id })));
  const locks = ids.filter((_, index) => free[index]!.rows.length > 0);
  const withFreeLock = locks.length > 0 ? yield* query<Record<string, unknown>>(CLAIMS_OF, { ids: locks }) : [];
  const claims = [...withoutLock!.rows, ...withFreeLock].map(({ id, lock_id }) => ({
    id: Number(id),
    lockId: Number(lock_id),
  }));
  return { locks, claims };
}

/** Locks the worker lock, then claims, jobs and history in the common order. */
function* rescueOrphan(locks: WorkerLocks, { id, lockId }: OrphanedClaim, rules: RescueRules): Work<RescuedJob[]> {
  if (!(yield* isFree(locks, lockId)) && (yield* query(LOCK_ROW, { id: lockId })).length > 0) return [];
  const [claim] = yield* query<ExpiredClaim>(LOCK_CLAIM, { id, lockId });
  if (!claim) return [];
  const rescued = yield* rescueJobsOf(claim, rules);
  // The claim stays if a handler's transaction has locked one of its jobs. Its worker may not know yet that the lock is
  // lost.
  yield* endLease(id);
  return rescued;
}

function* deleteFreeLock(locks: WorkerLocks, id: number): Work<void> {
  if (!(yield* isFree(locks, id))) return;
  if ((yield* query(CLAIMS_OF, { ids: [id] })).length === 0) yield* execute(DELETE_LOCK, { id });
}

/** Keeps a free lock for this transaction. */
function* isFree({ lockIfFree }: WorkerLocks, id: number): Work<boolean> {
  return (yield* query(lockIfFree, { id })).length > 0;
}
