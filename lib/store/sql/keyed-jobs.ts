import { StoreUnavailableError } from '../../job/errors.js';
import type { NewJob } from '../../job/job.js';
import type { CallerTransaction } from '../job-store.js';
import type { KeyedAnswer, PlacedJob } from '../key-store.js';
import type { Dialect } from './dialect.js';
import { carryOut, enqueueKeyed } from './enqueue-keyed.js';
import { KeyCreation } from './key-creation.js';
import { KeyPlan } from './key-plan.js';
import { idOf, KEPT_MS, keepKeys, keysOf, lockFreeKeys, lockKeys, lookAtKeys } from './key-rows.js';
import type { KeyName, KeyRows, LockedKey } from './key-rows.js';
import { lockIdleJobs } from './replace-jobs.js';
import type { SqlDatabase } from './sql-database.js';
import { staged } from './stages.js';
import { together, type Work } from './statement.js';

// How often things may change between a look and a lock.
const TRIES = 5;

type Send = <T>(work: () => Work<T>) => Promise<T>;

/** Puts jobs with keys in: what is asked, in which order, on which connection. */
export class KeyedJobs {
  readonly #creation: KeyCreation;

  /**
   * @param database never waits for a lock of the application: open transactions of callers need its answers to end
   * @param blocking for statements that may wait for such a lock
   */
  constructor(
    private readonly database: SqlDatabase,
    private readonly blocking: SqlDatabase,
    private readonly dialect: Dialect,
  ) {
    this.#creation = new KeyCreation(blocking, dialect);
  }

  async enqueue(calls: readonly (readonly NewJob[])[]): Promise<readonly KeyedAnswer[]> {
    const attempt = (provided: ReadonlySet<string>) => this.blocking.decideOnce(() => enqueueKeyed(calls, provided));
    const first = await attempt(new Set());
    if ('answers' in first) return first.answers;
    // By itself, so that no transaction waits for the place of a row that another one is about to fill.
    await this.#creation.once(first.missing, (missing) => this.#creation.add(missing));
    const second = await attempt(new Set(first.missing.map(idOf)));
    return 'answers' in second ? second.answers : calls.map(() => 'locked');
  }

  /** In the caller's transaction, which is open. */
  async enqueueWithin(jobs: readonly NewJob[], transaction: CallerTransaction): Promise<readonly PlacedJob[]> {
    const here: Send = (work) => this.database.within(transaction, work);
    const rows = await this.#lockWithin(jobs, here);
    const plan = new KeyPlan(rows);
    const answer = plan.add(jobs);
    // The caller's transaction may not see that they have been moved. They are locked, so that nobody moves them now.
    const { replaced } = plan;
    const inStages = replaced.length === 0 ? [] : await this.database.latest(() => staged(replaced), transaction);
    const writes = await here(() => carryOut(plan, inStages));
    await here(() => together(writes));
    const placed = answer();
    if (placed instanceof Error) throw placed;
    return placed;
  }

  /** Rows of the keys are there afterwards, committed, and nobody deletes them in the next minutes. */
  provide(keys: readonly KeyName[]): Promise<void> {
    return this.#creation.once(keys, (own) => this.#provide(own));
  }

  async #provide(keys: readonly KeyName[]): Promise<void> {
    const rows = await this.database.repeatable(() => lookAtKeys(keys));
    const missing = keys.filter((key) => !rows.has(idOf(key)));
    if (missing.length > 0) await this.#creation.add(missing);
    const old = keys.filter((key) => (rows.get(idOf(key))?.keptMs ?? KEPT_MS) < KEPT_MS / 2);
    if (old.length > 0) await this.database.transaction(() => keepFreeKeys(old));
  }

  /** What is known of the keys, and stays so until the transaction ends. */
  async #lockWithin(jobs: readonly NewJob[], here: Send): Promise<KeyRows> {
    const keys = keysOf(jobs);
    const replaced = new Set(keysOf(jobs.filter(({ key }) => key?.onConflict === 'replace')).map(idOf));
    for (let tries = 0; tries < TRIES; tries++) {
      // Where another connection could write nothing, the rows come with the transaction.
      if (this.dialect.hasOneWriter) await here(() => this.dialect.addKeys(keys));
      else await this.provide(keys);
      const locked = await here(() => lockKeys(keys));
      if (locked.size < keys.length) continue;
      const rows = await this.#lookWithin(keys, locked, here);
      // These must not begin before the transaction has committed: their handlers would miss what it writes, or run what
      // it has replaced.
      const waiting = [...rows.values()].filter(
        ({ key, until, job }) => job?.isIdle && (until === 'started' || replaced.has(idOf(key))),
      );
      const idle = await here(() => lockIdleJobs(waiting.map(({ jobId }) => jobId)));
      if (waiting.every(({ jobId }) => idle.has(jobId))) return rows;
    }
    throw new StoreUnavailableError(
      'The jobs that hold these keys change hands all the time. Try again.',
      'not-done',
      undefined,
      true,
    );
  }

  /**
   * The caller's transaction may see things as they were when it began, so they are looked at on another connection; but
   * for what it has put in itself, which nobody else sees. Where nobody else can write there is no difference.
   */
  async #lookWithin(keys: readonly KeyName[], locked: ReadonlyMap<string, LockedKey>, here: Send): Promise<KeyRows> {
    if (this.dialect.hasOneWriter) return here(() => lookAtKeys(keys));
    const committed = await this.database.repeatable(() => lookAtKeys(keys));
    const isOwn = (id: string) => {
      const [row, now] = [committed.get(id), locked.get(id)];
      return row?.jobId !== now?.jobId || row?.keptUntilMs !== now?.keptUntilMs;
    };
    const own = keys.filter((key) => isOwn(idOf(key)));
    return new Map([...committed, ...(await here(() => lookAtKeys(own)))]);
  }
}

/** What somebody has locked is in use: nobody deletes that. */
function* keepFreeKeys(keys: readonly KeyName[]): Work<void> {
  const { locked } = yield* lockFreeKeys(keys);
  yield* keepKeys(keys.filter((key) => locked.has(idOf(key))));
}
