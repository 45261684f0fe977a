import type { Database, Statement as Prepared } from 'better-sqlite3';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { StoreUnavailableError } from '../../job/errors.js';
import type { CallerTransaction } from '../job-store.js';
import type { Clock } from '../../time/clock.js';
import { applicationTransaction, type ApplicationWork } from '../sql/application-transaction.js';
import { callersRunner, onRunner } from '../sql/callers-transaction.js';
import { storeClosed } from '../sql/patience.js';
import { sqliteIds } from '../sql/inserted-ids.js';
import { remedyFor } from '../sql/remedy.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { driveSync, together, type Answer, type Decided, type Statement, type Work } from '../sql/statement.js';
import type { Templates } from '../sql/template.js';
import { checkSqliteDriver } from './sqlite-driver.js';

export type SqliteOptions = Extract<DataSourceOptions, { type: 'better-sqlite3' }>;

// As long as better-sqlite3 itself waits by default.
const PATIENCE_MS = 5_000;

const PREPARED_LIMIT = 200;

/**
 * The library's own handle on the database file: what TypeORM's single connection rolls back for somebody else is not
 * ours, and the other way round. It never waits inside SQLite, since that would stop the very event loop on which the
 * application's transaction has to end: a busy database is asked again later.
 */
export class SqliteHandle implements SqlDatabase {
  readonly #prepared = new Map<string, Prepared>();
  #transacting: Promise<void> = Promise.resolve();

  private constructor(
    private readonly handle: Database,
    private readonly shared: boolean,
    private readonly dataSource: DataSource,
    private readonly templates: Templates,
    private readonly clock: Clock,
  ) {}

  static async open(dataSource: DataSource, templates: Templates, clock: Clock): Promise<SqliteHandle> {
    const options = dataSource.options as SqliteOptions;
    checkSqliteDriver(options);
    if (isInMemory(options.database)) {
      // Such a database has one handle and no other can see it, so the application's is shared.
      return new SqliteHandle(applicationsHandle(dataSource), true, dataSource, templates, clock);
    }
    const loaded = (options.driver ?? (await import('better-sqlite3'))) as typeof import('better-sqlite3');
    const Sqlite = (loaded as { default?: typeof import('better-sqlite3') }).default ?? loaded;
    const handle = new Sqlite(options.database, {
      timeout: 0,
      nativeBinding: options.nativeBinding!,
    });
    const opened = new SqliteHandle(handle, false, dataSource, templates, clock);
    try {
      await opened.#whenFree(() => {
        if (options.key) handle.pragma(`key = ${JSON.stringify(options.key)}`);
        // With write-ahead logging readers and the writer do not wait for one another.
        handle.pragma('journal_mode = WAL');
        // A commit that was reported is on the disk.
        handle.pragma('synchronous = FULL');
      });
    } catch (error) {
      handle.close();
      throw error;
    }
    return opened;
  }

  transaction<T>(work: () => Work<T>): Promise<T> {
    return this.#whenFree(() => {
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

  // Without a transaction around them, so that a look that only reads never asks for the one lock that writers need.
  repeatable<T>(work: () => Work<T>): Promise<T> {
    return this.#whenFree(() => driveSync(work(), (statement) => this.#send(statement)));
  }

  // There is no connection to lose: a commit that was not answered was not done.
  once(writes: readonly Statement[]): Promise<readonly Answer[]> {
    return this.transaction(() => together(writes));
  }

  decideOnce<T>(work: () => Work<Decided<T>>): Promise<T> {
    return this.transaction(function* () {
      const { value, writes } = yield* work();
      yield* together(writes);
      return value;
    });
  }

  transactOnce<T>(work: () => Work<T>): Promise<T> {
    return this.transaction(work);
  }

  requireOpen(transaction: CallerTransaction): void {
    callersRunner(this.dataSource, transaction);
  }

  within<T>(transaction: CallerTransaction, work: () => Work<T>): Promise<T> {
    const bind = (statement: Statement) => this.templates.bind(statement);
    return onRunner(callersRunner(this.dataSource, transaction), bind, work);
  }

  latest<T>(work: () => Work<T>, transaction?: CallerTransaction): Promise<T> {
    // A transaction on the handle that is shared is this one, and ends only after this.
    if (transaction) this.requireOpen(transaction);
    if (transaction && this.shared) return this.within(transaction, work);
    return this.repeatable(work);
  }

  // TypeORM has one connection here, on which a second transaction would become a savepoint within the first.
  ofApplication<T>(work: ApplicationWork<T>): Promise<T> {
    const hasTransaction = () => applicationsHandle(this.dataSource).inTransaction;
    const next = this.#transacting.then(() => applicationTransaction(this.dataSource, work, hasTransaction));
    this.#transacting = next.then(
      () => undefined,
      () => undefined,
    );
    return next;
  }

  close(): Promise<void> {
    if (!this.shared) this.handle.close();
    return Promise.resolve();
  }

  #send(statement: Statement): Answer {
    const { text, values } = this.templates.bind(statement);
    const prepared = this.#prepare(text);
    if (prepared.reader) {
      const rows = prepared.all(...values) as Answer['rows'];
      return { rows, changed: rows.length, insertId: 0 };
    }
    const { changes, lastInsertRowid } = prepared.run(...values);
    return { rows: [], changed: changes, ...sqliteIds(Number(lastInsertRowid), changes) };
  }

  #prepare(text: string): Prepared {
    let prepared = this.#prepared.get(text);
    if (!prepared) {
      prepared = this.handle.prepare(text);
      if (this.#prepared.size >= PREPARED_LIMIT) this.#prepared.clear();
      this.#prepared.set(text, prepared);
    }
    return prepared;
  }

  async #whenFree<T>(act: () => T): Promise<T> {
    const since = this.clock.monotonic();
    for (let tries = 1; ; tries++) {
      try {
        if (!this.handle.open) throw storeClosed();
        if (!this.shared || !this.handle.inTransaction) return act();
      } catch (error) {
        if (remedyFor(error) !== 'again') throw error;
      }
      if (this.clock.monotonic() - since > PATIENCE_MS) throw stillBusy();
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

function stillBusy(): StoreUnavailableError {
  return new StoreUnavailableError(
    `The SQLite database stayed locked for ${PATIENCE_MS / 1_000} s. If a transaction of this application is open while it ` +
      `waits for enqueue(), pass its \`manager\`, so that the job joins the transaction.`,
    'not-done',
  );
}
