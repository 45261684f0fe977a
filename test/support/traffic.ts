import type { ResultSetHeader } from 'mysql2';
import { interceptingDriver, statementsOf } from './intercepting-driver.js';

/** One committed transaction. A statement outside of any transaction counts as one. */
export interface Transaction {
  readonly statements: readonly string[];
  /** Rows inserted, changed and deleted. */
  readonly rowsWritten: number;
  /** The number of round trips, including BEGIN and COMMIT. */
  readonly roundTrips: number;
}

const BEGIN = /^(START TRANSACTION|BEGIN)/;
const END = /^(COMMIT|ROLLBACK)/;
// Sent once per connection, before its first use.
const SET_UP = /^(SET SESSION|DO 0)/;

/** Records the statements between a store and its database, transaction by transaction. */
export class Traffic {
  readonly #open = new WeakMap<object, { statements: string[]; rowsWritten: number; roundTrips: number }>();
  readonly #committed: Transaction[] = [];

  /** For the option `driver` of a DataSource of MySQL or MariaDB. */
  readonly driver: object = interceptingDriver(
    () => Promise.resolve(),
    (text, answer, connection) => {
      const statements = statementsOf(text).map((sql) => sql.trim());
      const answers = statements.length > 1 ? (answer as unknown[]) : [answer];
      statements.forEach((sql, index) => {
        const written = Array.isArray(answers[index]) ? 0 : (answers[index] as ResultSetHeader).affectedRows;
        this.#record(sql, written, connection, index === 0 ? 1 : 0);
      });
    },
    { multipleStatements: true },
  );

  /** For the option `driver` of a DataSource of SQLite. */
  sqliteDriver(): Promise<object> {
    return sqliteDriver((sql, rowsWritten, handle) => this.#record(sql.trim(), rowsWritten, handle, 1));
  }

  /** The transactions since the last call, in the order of their commits. */
  drain(): Transaction[] {
    return this.#committed.splice(0);
  }

  #record(sql: string, rowsWritten: number, connection: object, roundTrips: number): void {
    const open = this.#open.get(connection);
    if (open) open.roundTrips += roundTrips;
    if (SET_UP.test(sql)) return;
    if (BEGIN.test(sql)) this.#open.set(connection, { statements: [], rowsWritten: 0, roundTrips });
    else if (END.test(sql)) {
      this.#open.delete(connection);
      if (open && sql === 'COMMIT') this.#committed.push(open);
    } else if (open) {
      open.statements.push(sql);
      open.rowsWritten += rowsWritten;
    } else this.#committed.push({ statements: [sql], rowsWritten, roundTrips });
  }
}

/** better-sqlite3 that reports each executed statement. */
export async function sqliteDriver(
  onStatement: (sql: string, rowsWritten: number, handle: object) => void,
): Promise<object> {
  const { default: Database } = await import('better-sqlite3');
  return class Recorded extends Database {
    override exec(sql: string): this {
      super.exec(sql);
      onStatement(sql, 0, this);
      return this;
    }

    // oxlint-disable-next-line typescript/no-explicit-any -- as better-sqlite3 declares it
    override prepare(sql: string): any {
      const prepared = super.prepare(sql);
      const { run, all } = prepared;
      const writes = !/^\s*(SELECT|WITH|PRAGMA)/.test(sql);
      return Object.assign(prepared, {
        run: (...values: unknown[]) => {
          const result = run.apply(prepared, values);
          onStatement(sql, result.changes, this);
          return result;
        },
        all: (...values: unknown[]) => {
          const rows = all.apply(prepared, values);
          onStatement(sql, writes ? rows.length : 0, this);
          return rows;
        },
      });
    }
  };
}
