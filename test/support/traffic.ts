import type { ResultSetHeader } from 'mysql2';
import { recordingDriver } from './recording-driver.js';

/** One transaction that has committed; a statement outside of any is one by itself. */
export interface Transaction {
  readonly statements: readonly string[];
  /** Rows inserted, changed and deleted. */
  readonly rowsWritten: number;
  /** How often the server was asked. */
  readonly roundTrips: number;
}

/** What passes between a store and a server, transaction by transaction. */
export class Traffic {
  readonly #open = new WeakMap<object, { statements: string[]; rowsWritten: number }>();
  readonly #committed: Transaction[] = [];
  /** For the option `driver` of a DataSource. */
  readonly driver = recordingDriver(
    () => Promise.resolve(),
    (sql, answer, connection) => this.#note(sql.trim(), answer, connection),
  );

  /** The transactions since the last call, in the order of their commits. */
  take(): Transaction[] {
    return this.#committed.splice(0);
  }

  #note(sql: string, answer: unknown, connection: object): void {
    // Said once for each connection, before its first use.
    if (/^SET SESSION|^DO 0$/.test(sql)) return;
    const rowsWritten = Array.isArray(answer) ? 0 : (answer as ResultSetHeader).affectedRows;
    const open = this.#open.get(connection);
    if (sql === 'START TRANSACTION') this.#open.set(connection, { statements: [], rowsWritten: 0 });
    else if (sql === 'COMMIT' || sql === 'ROLLBACK') {
      this.#open.delete(connection);
      if (open && sql === 'COMMIT') this.#committed.push({ ...open, roundTrips: open.statements.length + 2 });
    } else if (open) {
      open.statements.push(sql);
      open.rowsWritten += rowsWritten;
    } else this.#committed.push({ statements: [sql], rowsWritten, roundTrips: 1 });
  }
}
