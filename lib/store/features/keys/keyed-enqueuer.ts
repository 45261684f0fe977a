import { StoreUnavailableError } from '../../../job/errors.js';
import { mayReplace } from '../../../job/job-key.js';
import type { NewJob } from '../../../job/job.js';
import type { CallerTransaction, CommitListener, SendWork } from '../../core/caller-transaction.js';
import type { ReturnedJob } from '../../rows/claim.js';
import type { KeyedCallResult, KeyedJobResult } from './key-store.js';
import {
  applyKeyPlan,
  enqueueKeyed,
  findTraces,
  lockIdleJobs,
  NO_TRACES,
  type IdleRows,
  type KeyedEnqueueResult,
  type Traces,
} from './enqueue-keyed.js';
import { KeyPlan } from './key-plan.js';
import { findStaged } from '../../ends/stages.js';
import type { Change } from '../audit/audit-store.js';
import { audited } from '../audit/run-change.js';
import {
  keyIdOf,
  UNUSED_KEY_RETENTION_MS,
  extendKeyRetention,
  inLockOrder,
  keysOf,
  lockKeysSkipLocked,
  lockKeys,
  readChangedOwners,
  readKeys,
  type KeyRows,
  type LockedKey,
} from './key-rows.js';
import type { Dialect, KeyName, SqlDatabase } from '../../core/sql-database.js';
import { drive, executeAll, type Work } from '../../core/statement.js';

// The number of times that rows may change between a read and its lock.
const MAX_TRIES = 5;

/** A transaction of the caller that no other call uses meanwhile. */
interface HeldTransaction {
  readonly send: SendWork;
  /** The jobs that it has changed. */
  readonly changed: ReadonlySet<number>;
}

/** Enqueues jobs with keys: creates the rows of keys, and chooses the connection of each statement. */
export class KeyedEnqueuer {
  /** The creations of rows that are under way, by key. */
  readonly #creations = new Map<string, Promise<void>>();

  /**
   * @param database must never wait for a lock of the application: callers' open transactions need its answers to end
   * @param blocking a database whose statements may wait for such a lock
   */
  constructor(
    private readonly database: SqlDatabase,
    private readonly blocking: SqlDatabase,
    private readonly dialect: Dialect,
    private readonly commits: Pick<CommitListener, 'changedIn'>,
  ) {}

  /** @param change of an administrator, with its entry in the audit. It has no transaction of a caller */
  async enqueue(calls: readonly (readonly NewJob[])[], change?: Change): Promise<readonly KeyedCallResult[]> {
    const attempt = (provided: ReadonlySet<string>) =>
      this.blocking.decideOnce(() => {
        const work = enqueueKeyed(calls, provided);
        return change ? audited(work, change, ({ value }) => countStored(value)) : work;
      });
    const first = await attempt(new Set());
    if ('results' in first) return first.results;
    // Outside the transaction, so that no transaction waits for the INSERT of a row by another one.
    await this.#createOnce(first.missing, (missing) => this.#insertRows(missing));
    const second = await attempt(new Set(first.missing.map(keyIdOf)));
    return 'results' in second ? second.results : calls.map(() => 'locked');
  }

  // Holds the transaction: its own lock of a key would not keep another call of the transaction from that key.
  enqueueWithin(jobs: readonly NewJob[], transaction: CallerTransaction): Promise<readonly KeyedJobResult[]> {
    return this.database.holdCallerTransaction(transaction, (send) =>
      this.#enqueueWithin(this.#held(transaction, send), jobs),
    );
  }

  /**
   * Locks the keys in the caller's transaction, and waits for other transactions that have locked them. Returns the current
   * rows, although the snapshot of the transaction may be older.
   *
   * @param send of `holdCallerTransaction`
   */
  lockWithin(keys: readonly KeyName[], transaction: CallerTransaction, send: SendWork): Promise<KeyRows> {
    return this.#lockKeysWithin(this.#held(transaction, send), inLockOrder(keys));
  }

  #held(transaction: CallerTransaction, send: SendWork): HeldTransaction {
    return { send, changed: this.commits.changedIn(transaction) };
  }

  async #enqueueWithin(held: HeldTransaction, jobs: readonly NewJob[]): Promise<readonly KeyedJobResult[]> {
    const { rows, idle } = await this.#lockWithin(held, jobs);
    const plan = new KeyPlan(rows);
    const resultOf = await drive(plan.addCall(jobs), () => Promise.resolve([]));
    const traces = await this.#findTraces(held, plan.replacedIds);
    const writes = await held.send(() => applyKeyPlan(plan, idle, traces));
    await held.send(() => executeAll(writes));
    const results = resultOf();
    if (results instanceof Error) throw results;
    return results;
  }

  /** Resolves when the rows of the keys are committed. No process prunes them for the next 30 minutes. */
  ensureRows(keys: readonly KeyName[]): Promise<void> {
    return this.#createOnce(keys, async (own) => {
      const rows = await this.database.runIdempotent(() => readKeys(own));
      const missing = own.filter((key) => !rows.has(keyIdOf(key)));
      if (missing.length > 0) await this.#insertRows(missing);
      const retentionOf = (key: KeyName) => rows.get(keyIdOf(key))?.remainingRetentionMs ?? UNUSED_KEY_RETENTION_MS;
      const old = own.filter((key) => retentionOf(key) < UNUSED_KEY_RETENTION_MS / 2);
      if (old.length > 0) await this.database.transaction(() => extendUnlockedKeyRetention(old));
    });
  }

  /**
   * Resolves when the rows of all keys exist. `create` gets those keys for which no other call is under way: the INSERT
   * of a row that another process has created and a caller's transaction has locked waits for that transaction. For each
   * key at most one call of this process waits in the database; the others wait here.
   */
  async #createOnce(keys: readonly KeyName[], create: (keys: readonly KeyName[]) => Promise<void>): Promise<void> {
    const pending = new Set(keys.flatMap((key) => this.#creations.get(keyIdOf(key)) ?? []));
    const own = keys.filter((key) => !this.#creations.has(keyIdOf(key)));
    if (own.length > 0) {
      const creating = create(own).finally(() => {
        for (const key of own) this.#creations.delete(keyIdOf(key));
      });
      for (const key of own) this.#creations.set(keyIdOf(key), creating);
      pending.add(creating);
    }
    await Promise.all(pending);
  }

  /** Inserts the rows that do not exist yet. */
  async #insertRows(keys: readonly KeyName[]): Promise<void> {
    const { dialect } = this;
    let isRetry = false;
    await this.blocking.runIdempotent(function* () {
      // A timeout of the INSERT means that a row exists and is locked. Another INSERT would wait for the same lock.
      const rows = isRetry ? yield* readKeys(keys) : undefined;
      const missing = rows ? keys.filter((key) => !rows.has(keyIdOf(key))) : keys;
      isRetry = true;
      if (missing.length > 0) yield* dialect.addKeys(missing, UNUSED_KEY_RETENTION_MS);
    });
  }

  /** The rows and their jobs are stable until the transaction ends. */
  async #lockWithin(held: HeldTransaction, jobs: readonly NewJob[]): Promise<{ rows: KeyRows; idle: IdleRows }> {
    const keys = keysOf(jobs);
    const replaced = new Set(keysOf(jobs.filter(({ key }) => key && mayReplace(key))).map(keyIdOf));
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const rows = await this.#lockKeysWithin(held, keys);
      // No worker may claim these jobs before the commit: a handler would miss the caller's writes or run a replaced
      // job.
      const waiting = [...rows.values()].filter(
        ({ key, until, job }) => job?.isUnclaimed && (until === 'started' || replaced.has(keyIdOf(key))),
      );
      const idle = await held.send(() => lockIdleJobs(waiting));
      if (waiting.every(({ jobId }) => idle.has(jobId))) return { rows, idle };
    }
    throw unstableKeysError();
  }

  /** @param keys in the order of their locks */
  async #lockKeysWithin(held: HeldTransaction, keys: readonly KeyName[]): Promise<KeyRows> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      // If the database has one writer, another connection would wait for this transaction.
      if (this.dialect.hasOneWriter) await held.send(() => this.dialect.addKeys(keys, UNUSED_KEY_RETENTION_MS));
      else await this.ensureRows(keys);
      const locked = await held.send(() => lockKeys(keys));
      if (locked.size === keys.length) return this.#readWithin(held, keys, locked);
    }
    throw unstableKeysError();
  }

  /**
   * Reads the keys on another connection, because the snapshot of the caller's transaction may be old. Keys that this
   * transaction has acquired are read in it, and so are owners that it has changed: no other connection sees that.
   */
  async #readWithin(
    { send, changed }: HeldTransaction,
    keys: readonly KeyName[],
    locked: ReadonlyMap<string, LockedKey>,
  ): Promise<KeyRows> {
    if (this.dialect.hasOneWriter) return send(() => readKeys(keys));
    const committed = await this.database.runIdempotent(() => readKeys(keys));
    const isOwn = (id: string) => {
      const [row, now] = [committed.get(id), locked.get(id)];
      return row?.jobId !== now?.jobId || row?.keptUntilMs !== now?.keptUntilMs;
    };
    const own = keys.filter((key) => isOwn(keyIdOf(key)));
    const changedRows = [...committed.values()].filter(
      ({ key, job, jobId }) => job && changed.has(jobId) && !isOwn(keyIdOf(key)),
    );
    const rows = new Map([...committed, ...(await send(() => readKeys(own)))]);
    for (const row of await send(() => readChangedOwners(changedRows))) rows.set(keyIdOf(row.key), row);
    return rows;
  }

  /**
   * Reads on another connection, because the snapshot of the caller's transaction may be old. The jobs are locked, so no
   * other transaction adds anything. Only this one knows the stages into which it has moved jobs.
   */
  async #findTraces({ send, changed }: HeldTransaction, replacedIds: readonly number[]): Promise<Traces> {
    if (replacedIds.length === 0) return NO_TRACES;
    if (this.dialect.hasOneWriter) return send(() => findTraces(replacedIds));
    const traces = await this.database.runIdempotent(() => findTraces(replacedIds));
    const moved = await send(() => findStaged(replacedIds.filter((id) => changed.has(id))));
    return { ...traces, inStages: [...new Set([...traces.inStages, ...moved])] };
  }
}

function unstableKeysError(): StoreUnavailableError {
  return new StoreUnavailableError(
    'Other processes kept claiming or finishing the jobs that own these keys. Call again.',
    'not-done',
    undefined,
    true,
  );
}

/** The number of jobs that are new, or that replace another one. */
function countStored(result: KeyedEnqueueResult): number {
  const answers = 'results' in result ? result.results : [];
  const jobs = answers.flatMap((answer) => (answer === 'locked' || answer instanceof Error ? [] : answer));
  return jobs.filter(({ outcome }) => outcome !== 'existing').length;
}

/** Skips locked keys: their transactions are using them and extend their retention. */
function* extendUnlockedKeyRetention(keys: readonly KeyName[]): Work<void> {
  const { locked } = yield* lockKeysSkipLocked(keys);
  yield* extendKeyRetention(keys.filter((key) => locked.has(keyIdOf(key))));
}

/** Each keeps its id, so it may stand before the scan cursors. */
export function replacedJobs(call: readonly NewJob[], result: KeyedCallResult): ReturnedJob[] {
  if (result === 'locked' || result instanceof Error) return [];
  return result.flatMap(({ id, outcome }, index) => {
    const { queue, priority } = call[index]!;
    return outcome === 'replaced' ? [{ id, queue, priority }] : [];
  });
}
