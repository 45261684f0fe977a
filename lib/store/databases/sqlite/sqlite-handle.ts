import type { Database, Statement as Prepared } from 'better-sqlite3';
import type { DataSource, DataSourceOptions, QueryRunner } from 'typeorm';
import { StoreUnavailableError, TransactionLostError } from '../../../job/errors.js';
import type { Clock } from '../../../common/clock.js';
import { isTurnLong, nextTurn } from '../../../common/turn.js';
import {
  holdCallerTransaction,
  inApplicationTransaction,
  inCallerTransaction,
  callerQueryRunner,
  runOnSession,
  type ApplicationWork,
  type CallerTransaction,
  type SendWork,
} from '../../core/caller-transaction.js';
import { retryCode, storeClosedError, storeUnavailableError, type OnRetry } from '../../core/with-retry.js';
import { classifyError, explainRejection } from '../../core/classify-error.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import {
  drive,
  driveSync,
  executeAll,
  type StatementResult,
  type FinalWrites,
  type Statement,
  type Step,
  type Work,
} from '../../core/statement.js';
import type { BoundStatement, Templates } from '../../core/template.js';
import { checkSqliteDriver } from './sqlite-driver.js';

export type SqliteOptions = Extract<DataSourceOptions, { type: 'better-sqlite3' }>;

// The default timeout of better-sqlite3.
const BUSY_TIMEOUT_MS = 5_000;

const BUSY = /^SQLITE_(BUSY|LOCKED)/;

const MAX_PREPARED = 200;

/**
 * The library's own handle on the database file, so that neither the library nor the application rolls back a
 * transaction of the other. It never waits inside SQLite, because that would block the event loop on which the
 * application's transaction must end. If the database is busy or the disk is full, it retries later, for up to 5 s.
 */
export class SqliteHandle implements SqlDatabase {
  readonly #prepared = new Map<string, Prepared>();
  #lastApplicationTransaction: Promise<void> = Promise.resolve();

  private constructor(
    private readonly handle: Database,
    private readonly isShared: boolean,
    private readonly dataSource: DataSource,
    private readonly templates: Templates,
    private readonly clock: Clock,
    private readonly onRetry: OnRetry | undefined,
  ) {}

  /** Uses the handle of the DataSource, whose settings stay as they are. */
  static shared(dataSource: DataSource, templates: Templates, clock: Clock, onRetry?: OnRetry): SqliteHandle {
    return new SqliteHandle(applicationsHandle(dataSource), true, dataSource, templates, clock, onRetry);
  }

  static async open(
    dataSource: DataSource,
    templates: Templates,
    clock: Clock,
    onRetry?: OnRetry,
  ): Promise<SqliteHandle> {
    const options = dataSource.options as SqliteOptions;
    checkSqliteDriver(options);
    if (isInMemory(options.database)) {
      // No other handle can open a database in memory, so the application's handle is shared.
      return SqliteHandle.shared(dataSource, templates, clock, onRetry);
    }
    const loaded = (options.driver ?? (await import('better-sqlite3'))) as typeof import('better-sqlite3');
    const Sqlite = (loaded as { default?: typeof import('better-sqlite3') }).default ?? loaded;
    const handle = new Sqlite(options.database, { timeout: 0, nativeBinding: options.nativeBinding! });
    const opened = new SqliteHandle(handle, false, dataSource, templates, clock, onRetry);
    try {
      await opened.#whenNotBusy(() => {
        if (options.key) handle.pragma(`key = ${JSON.stringify(options.key)}`);
        // With write-ahead logging, readers and the writer do not block each other.
        handle.pragma('journal_mode = WAL');
        // A reported commit is on the disk.
        handle.pragma('synchronous = FULL');
      });
    } catch (error) {
      handle.close();
      throw error;
    }
    return opened;
  }

  transaction<T>(work: () => Work<T>): Promise<T> {
    return this.#whenNotBusy(() => {
      this.handle.exec('BEGIN IMMEDIATE');
      try {
        const value = driveSync(work(), (statement) => this.#send(statement));
        this.handle.exec('COMMIT');
        return value;
      } catch (error) {
        if (this.handle.inTransaction) this.handle.exec('ROLLBACK');
        throw error;
      }
    });
  }

  // Without BEGIN IMMEDIATE: work that only reads must not take the write lock. On a shared handle the application could begin
  // a transaction between two steps, so there the work keeps the thread.
  runIdempotent<T>(work: () => Work<T>): Promise<T> {
    return this.#whenNotBusy(() =>
      this.isShared
        ? driveSync(work(), (statement) => this.#send(statement))
        : drive(work(), (step) => this.#sendInTurn(step)),
    );
  }

  // No connection can break, so a commit that failed did not happen.
  writeOnce(writes: readonly Statement[]): Promise<readonly StatementResult[]> {
    return this.transaction(() => executeAll(writes));
  }

  decideOnce<T>(work: () => Work<FinalWrites<T>>): Promise<T> {
    return this.transaction(function* () {
      const { value, writes } = yield* work();
      yield* executeAll(writes);
      return value;
    });
  }

  transactOnce<T>(work: () => Work<T>): Promise<T> {
    return this.transaction(work);
  }

  holdCallerTransaction<T>(transaction: CallerTransaction, act: (send: SendWork) => Promise<T>): Promise<T> {
    return holdCallerTransaction(this.dataSource, transaction, act, (runner, work, requireOwnTransaction) => {
      if (!applicationsHandle(this.dataSource).inTransaction) throw new TransactionLostError();
      const send = (statement: Statement) => {
        requireOwnTransaction();
        return sendOnSession(runner, this.templates.bind(statement));
      };
      return runOnSession(send, work);
    });
  }

  readLatest<T>(work: () => Work<T>, transaction?: CallerTransaction): Promise<T> {
    // On a shared handle the open transaction is the caller's. A read outside it would wait until it ends.
    if (transaction) callerQueryRunner(this.dataSource, transaction);
    if (transaction && this.isShared) return inCallerTransaction(this, transaction, work);
    return this.runIdempotent(work);
  }

  // One at a time: TypeORM has one connection here, and a second transaction would become a savepoint of the first.
  inApplicationTransaction<T>(work: ApplicationWork<T>): Promise<T> {
    const hasTransaction = () => applicationsHandle(this.dataSource).inTransaction;
    const next = this.#lastApplicationTransaction.then(() =>
      inApplicationTransaction(this.dataSource, work, hasTransaction),
    );
    this.#lastApplicationTransaction = next.then(
      () => undefined,
      () => undefined,
    );
    return next;
  }

  close(): Promise<void> {
    if (!this.isShared) this.handle.close();
    return Promise.resolve();
  }

  async #sendInTurn({ statements }: Step): Promise<StatementResult[]> {
    const results: StatementResult[] = [];
    for (const statement of statements) {
      if (isTurnLong()) await nextTurn();
      if (!this.handle.open) throw storeClosedError();
      results.push(this.#send(statement));
    }
    return results;
  }

  #send(statement: Statement): StatementResult {
    const { text, values } = this.templates.bind(statement);
    const prepared = this.#prepare(text);
    if (prepared.reader) {
      const rows = prepared.all(...values) as StatementResult['rows'];
      return { rows, affectedRows: rows.length, insertId: 0 };
    }
    const { changes, lastInsertRowid } = prepared.run(...values);
    return { rows: [], affectedRows: changes, ...sqliteIds(Number(lastInsertRowid), changes) };
  }

  #prepare(text: string): Prepared {
    let prepared = this.#prepared.get(text);
    if (!prepared) {
      prepared = this.handle.prepare(text);
      if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear();
      this.#prepared.set(text, prepared);
    }
    return prepared;
  }

  async #whenNotBusy<T>(act: () => T | Promise<T>): Promise<T> {
    const since = this.clock.monotonic();
    for (let tries = 1; ; tries++) {
      // Many short calls in a row would keep the event loop like one long call.
      if (isTurnLong()) await nextTurn();
      let failure: unknown;
      try {
        if (!this.handle.open) throw storeClosedError();
        if (!this.isShared || !this.handle.inTransaction) return await act();
      } catch (error) {
        if (classifyError(error) !== 'again') throw explainRejection(error);
        this.onRetry?.(retryCode(error));
        failure = error;
      }
      if (this.clock.monotonic() - since > BUSY_TIMEOUT_MS) throw timeoutError(failure);
      await this.clock.sleep(1 + Math.random() * Math.min(2 ** tries, 30));
    }
  }
}

function applicationsHandle({ driver }: DataSource): Database {
  return (driver as unknown as { databaseConnection: Database }).databaseConnection;
}

export function isInMemory(database: unknown): boolean {
  return database === ':memory:' || database === '' || (typeof database === 'string' && /mode=memory/.test(database));
}

/** @param failure undefined if a transaction of the application is open on the shared handle */
function timeoutError(failure: unknown): StoreUnavailableError {
  // For example a full disk.
  if (failure && !BUSY.test(retryCode(failure))) return storeUnavailableError(failure, 'not-done');
  return new StoreUnavailableError(
    `The SQLite database stayed locked for ${BUSY_TIMEOUT_MS / 1_000} s. If a transaction of this application is open while it ` +
      `waits for enqueue(), pass its \`manager\`, so that the job joins the transaction.`,
    'not-done',
  );
}

/** The driver answers an INSERT with the id of its last row, and a read with a list. */
async function sendOnSession(runner: QueryRunner, { text, values }: BoundStatement): Promise<StatementResult> {
  const { raw, records, affected = 0 } = await runner.query(text, [...values], true);
  const ids = typeof raw === 'object' ? { insertId: 0 } : sqliteIds(Number(raw ?? 0), affected);
  return { rows: records as Record<string, unknown>[], affectedRows: affected, ...ids };
}

/** SQLite reports the last id of an INSERT. It has one writer at a time, so the ids are consecutive. */
function sqliteIds(lastId: number, count: number): Pick<StatementResult, 'insertId' | 'idStep'> {
  return { insertId: lastId - count + 1, idStep: 1 };
}
