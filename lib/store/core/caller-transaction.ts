import type { DataSource, EntityManager, QueryRunner, EntitySubscriberInterface } from 'typeorm';
import { InvalidOptionsError, TransactionLostError } from '../../job/errors.js';
import { explainRejection } from './classify-error.js';
import { drive, type StatementResult, type Statement, type Work } from './statement.js';
import { ascending, idsOf, randomId } from '../../job/identifiers.js';
import { readsCurrent, readsLatest } from './template.js';

/** The caller's own open transaction. The library neither retries nor commits it. */
export type CallerTransaction = EntityManager | QueryRunner;

const WAY_OUT = 'Pass the manager that dataSource.transaction(async (manager) => …) gives you, or leave `manager` out.';

/**
 * @throws InvalidOptionsError for a manager of another DataSource, which commits apart from this database. Also for one
 * without an open transaction: the job would exist even if the caller's work fails
 */
export function callerQueryRunner(dataSource: DataSource, transaction: CallerTransaction): QueryRunner {
  const managersDataSource = dataSourceOf(transaction);
  if (!managersDataSource)
    throw invalidManagerError('expected an EntityManager or QueryRunner of TypeORM, got another value');
  if (managersDataSource !== dataSource) {
    throw invalidManagerError(
      'expected a manager of the DataSource that holds the queue, got one of another DataSource',
    );
  }
  requireOpenTransaction(transaction);
  return queryRunnerOf(transaction)!;
}

/** Throws InvalidOptionsError if a manager of TypeORM has no open transaction. Accepts test doubles. */
export function requireOpenTransaction(transaction: CallerTransaction): void {
  if (!dataSourceOf(transaction)) return;
  const runner = queryRunnerOf(transaction);
  const expected = 'expected the manager of an open transaction, got';
  if (!runner) throw invalidManagerError(`${expected} one that is in no transaction, as dataSource.manager is`);
  if (runner.isReleased)
    throw invalidManagerError(`${expected} one whose transaction has ended; await enqueue() before it ends`);
  if (!runner.isTransactionActive) {
    throw invalidManagerError(
      `${expected} one whose QueryRunner has no open transaction: call startTransaction() first`,
    );
  }
}

/** The query runner of the manager, open or not; undefined if it has none. */
function queryRunnerOf(transaction: CallerTransaction): QueryRunner | undefined {
  return 'startTransaction' in transaction ? transaction : transaction.queryRunner;
}

/** TypeORM's count of nested transactions on the connection. All but the first are savepoints. */
function transactionDepth(runner: QueryRunner): number {
  return (runner as unknown as { transactionDepth: number }).transactionDepth;
}

function dataSourceOf(transaction: CallerTransaction): DataSource | undefined {
  const given = transaction as Partial<EntityManager> | null;
  // In TypeORM 0.3 the DataSource is the property `connection`.
  return given?.dataSource ?? given?.connection;
}

function invalidManagerError(problem: string): InvalidOptionsError {
  return new InvalidOptionsError('Invalid manager', [`${problem}. ${WAY_OUT}`]);
}

interface SessionHooks {
  /** Called before each statement that reads rows. */
  readonly beforeRead: () => Promise<void>;
  /** Reads every commit before the call, on another connection. */
  readonly readLatest: (reads: readonly Statement[]) => Promise<readonly StatementResult[]>;
}

/** Runs work in the caller's transaction. */
export type SendWork = <T>(work: () => Work<T>) => Promise<T>;

/** Runs one work in the caller's transaction. */
export function inCallerTransaction<T>(
  database: {
    holdCallerTransaction<U>(transaction: CallerTransaction, act: (send: SendWork) => Promise<U>): Promise<U>;
  },
  transaction: CallerTransaction,
  work: () => Work<T>,
): Promise<T> {
  return database.holdCallerTransaction(transaction, (send) => send(work));
}

/** What belongs to an open transaction of a query runner. */
interface InTransaction {
  /** The nesting depth of the transaction: 1 for the outermost. */
  depth: number;
}

const lastCalls = new WeakMap<QueryRunner, Promise<unknown>>();

/** The calls that have not ended, of each query runner, without those whose transaction has ended. */
const callsOfRunners = new WeakMap<QueryRunner, Set<InTransaction>>();

function callsOf(runner: QueryRunner): Set<InTransaction> {
  const calls = callsOfRunners.get(runner) ?? new Set();
  callsOfRunners.set(runner, calls);
  return calls;
}

/** Ends the calls in transactions that are nested deeper than `depth`. */
function endCallsBelow(depth: number, runner: QueryRunner): void {
  const calls = callsOf(runner);
  for (const each of calls) if (each.depth > depth) calls.delete(each);
}

/**
 * Calls that share a transaction run one after another, because its locks do not keep them from each other's rows. A call
 * that waits must not go on in the next transaction of the query runner, so it belongs to the one in which it was made.
 *
 * @param call receives a function that throws TransactionLostError if the transaction of the call has ended
 */
function afterEarlierCalls<T>(
  runner: QueryRunner,
  call: (requireOwnTransaction: () => void) => Promise<T>,
): Promise<T> {
  const calls = callsOf(runner);
  const own = { depth: transactionDepth(runner) };
  calls.add(own);
  const requireOwnTransaction = () => {
    if (!calls.has(own)) throw new TransactionLostError();
  };
  const result = (lastCalls.get(runner) ?? Promise.resolve()).then(() => call(requireOwnTransaction));
  // Without the value, because SQLite has one runner for ever.
  const end = () => void calls.delete(own);
  lastCalls.set(runner, result.then(end, end));
  return result;
}

/**
 * Runs a work on the query runner, or throws TransactionLostError if its transaction has ended.
 *
 * @param requireOwnTransaction called before each statement
 */
type RunWork = <T>(runner: QueryRunner, work: () => Work<T>, requireOwnTransaction: () => void) => Promise<T>;

/** The method of `SqlDatabase`. */
export async function holdCallerTransaction<T>(
  dataSource: DataSource,
  transaction: CallerTransaction,
  act: (send: SendWork) => Promise<T>,
  run: RunWork,
): Promise<T> {
  return afterEarlierCalls(callerQueryRunner(dataSource, transaction), (requireOwnTransaction) =>
    act(async (work) => {
      requireOwnTransaction();
      try {
        return await run(callerQueryRunner(dataSource, transaction), work, requireOwnTransaction);
      } catch (error) {
        throw explainRejection(error);
      }
    }),
  );
}

/**
 * @param send sends a statement on the caller's session
 * @param hooks if the session may have other settings, and a snapshot that is older than the locks of the work
 */
export function runOnSession<T>(
  send: (statement: Statement) => Promise<StatementResult>,
  work: () => Work<T>,
  hooks?: SessionHooks,
): Promise<T> {
  return drive(work(), async ({ statements }) => {
    const results: StatementResult[] = [];
    for (const statement of statements) {
      if (hooks && /^\s*SELECT\b/.test(statement.sql)) await hooks.beforeRead();
      results.push(await send(statement));
    }
    const reads = statements.filter((each) => readsLatest(each) || readsCurrent(each));
    if (!hooks || reads.length === 0) return results;
    const latest = new Map((await hooks.readLatest(reads)).map(({ rows }, index) => [reads[index], rows]));
    for (const [index, statement] of statements.entries()) {
      const { rows: own, ...result } = results[index]!;
      const others = latest.get(statement) ?? [];
      const rows = readsCurrent(statement) ? await currentRows(send, statement, own, others) : [...own, ...others];
      results[index] = { ...result, rows };
    }
    return results;
  });
}

type FoundRows = StatementResult['rows'];

/**
 * If the own snapshot and the latest commits differ, the transaction has changed the rows or has an older snapshot. A locking
 * read answers as of now, own changes included. Where both agree, no row of other transactions is locked.
 */
async function currentRows(
  send: (statement: Statement) => Promise<StatementResult>,
  { sql, values }: Statement,
  own: FoundRows,
  latest: FoundRows,
): Promise<FoundRows> {
  const [ownIds, latestIds] = [own, latest].map((rows) => new Set(idsOf(rows as readonly { id: number }[])));
  const ids = ascending([...ownIds!, ...latestIds!].filter((id) => !ownIds!.has(id) || !latestIds!.has(id)));
  if (ids.length === 0) return own;
  const { rows } = await send({ sql: sql.replace('{current}', '{lock}'), values: { ...values, ids } });
  return [...own.filter(({ id }) => latestIds!.has(Number(id))), ...rows];
}

/** Work in a transaction of the application's DataSource. It calls `isStillOpen` before its last statements. */
export type ApplicationWork<T> = (manager: EntityManager, isStillOpen: () => Promise<boolean>) => Promise<T>;

/**
 * Runs work in a transaction of the application. A COMMIT, a ROLLBACK, DDL or a deadlock can end the transaction early.
 * The savepoint set at the start is then gone, even if another transaction has started since.
 *
 * @param hasTransaction whether the connection is in a transaction; undefined if only the server knows
 */
export function inApplicationTransaction<T>(
  dataSource: DataSource,
  work: ApplicationWork<T>,
  hasTransaction?: () => boolean,
): Promise<T> {
  return dataSource.transaction(async (manager) => {
    const runner = manager.queryRunner!;
    const depth = transactionDepth(runner);
    const savepoint = newSavepoint();

    const isStillOpen = async (): Promise<boolean> => {
      if (!runner.isTransactionActive) return false;
      // On SQLite all transactions of the application share one connection and one stack of savepoints. If they overlap,
      // another transaction may have released this savepoint. On a server, the work has left a nested transaction open.
      if (transactionDepth(runner) !== depth) return hasTransaction?.() ?? false;
      return releaseSavepoint(runner, savepoint);
    };

    await runner.query(`SAVEPOINT ${savepoint}`);
    return work(manager, async () => {
      if (await isStillOpen()) return true;
      // Ends a transaction that the work has started after its own one ended. Otherwise the next user of the connection
      // would run inside it. TypeORM then rolls back, which SQLite rejects outside a transaction, so an empty one is
      // started.
      if (hasTransaction?.() ?? true) await runner.query('ROLLBACK');
      if (runner.isTransactionActive && transactionDepth(runner) === 1) await runner.query('BEGIN');
      return false;
    });
  });
}

function newSavepoint(): string {
  return `sql_queue_${randomId()}`;
}

/** False if the transaction of the savepoint has ended. */
async function releaseSavepoint(runner: QueryRunner, savepoint: string): Promise<boolean> {
  try {
    await runner.query(`RELEASE SAVEPOINT ${savepoint}`);
    return true;
  } catch (error) {
    if (!isNoSuchSavepoint(error)) throw error;
    return false;
  }
}

function isNoSuchSavepoint(error: unknown): boolean {
  const { errno, message } = (error ?? {}) as { errno?: number; message?: string };
  return errno === 1305 || /no such savepoint/i.test(message ?? '');
}

interface PendingAct extends InTransaction {
  readonly act: () => void;
}

/**
 * What belongs to open transactions of the application, by TypeORM's events: runs callbacks after their commit, ends calls
 * with their transaction, and knows the jobs that they have changed.
 */
export class CommitListener implements EntitySubscriberInterface {
  readonly #pending = new WeakMap<QueryRunner, PendingAct[]>();
  /**
   * The jobs that verbs have ended or taken from their claims. A rollback to a savepoint may have undone the change, but not
   * the locks of these jobs.
   */
  readonly #changedJobs = new WeakMap<QueryRunner, Set<number>>();

  constructor(private readonly dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  /** Calls `act` after the commit, never after a rollback; at once if no transaction is open. */
  afterCommit(transaction: CallerTransaction, act: () => void): void {
    const runner = queryRunnerOf(transaction);
    if (!runner?.isTransactionActive) return act();
    const pending = this.#pending.get(runner);
    const added: PendingAct = { act, depth: transactionDepth(runner) };
    if (pending) pending.push(added);
    else this.#pending.set(runner, [added]);
  }

  addChanged(transaction: CallerTransaction, ids: readonly number[]): void {
    const runner = queryRunnerOf(transaction);
    if (!runner) return;
    const known = this.#changedJobs.get(runner) ?? new Set();
    for (const id of ids) known.add(id);
    this.#changedJobs.set(runner, known);
  }

  changedIn(transaction: CallerTransaction): ReadonlySet<number> {
    const runner = queryRunnerOf(transaction);
    return (runner && this.#changedJobs.get(runner)) ?? new Set();
  }

  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    const pending = this.#pending.get(queryRunner) ?? [];
    // If the runner is still active, only a savepoint was released. Its acts and calls then belong to the transaction
    // around it.
    if (queryRunner.isTransactionActive) {
      const depth = transactionDepth(queryRunner);
      for (const each of [...pending, ...callsOf(queryRunner)]) each.depth = Math.min(each.depth, depth);
      return;
    }
    endCallsBelow(0, queryRunner);
    this.#changedJobs.delete(queryRunner);
    this.#pending.delete(queryRunner);
    pending.forEach(({ act }) => act());
  }

  // Before the ROLLBACK is sent: a statement behind it would be committed on its own.
  beforeTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    endCallsBelow(transactionDepth(queryRunner) - 1, queryRunner);
  }

  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    const depth = queryRunner.isTransactionActive ? transactionDepth(queryRunner) : 0;
    const pending = (this.#pending.get(queryRunner) ?? []).filter((each) => each.depth <= depth);
    this.#pending.set(queryRunner, pending);
    endCallsBelow(depth, queryRunner);
    if (depth === 0) this.#changedJobs.delete(queryRunner);
  }

  stop(): void {
    const { subscribers } = this.dataSource;
    const index = subscribers.indexOf(this);
    if (index >= 0) subscribers.splice(index, 1);
  }
}
