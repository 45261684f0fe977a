import mysql2 from 'mysql2';
import type { Connection, ConnectionOptions, Pool, PoolOptions } from 'mysql2';

/**
 * Receives each statement as the server will read it, and delays it until it resolves. `run` sends another statement on
 * the same connection, in the same transaction.
 */
export type StatementListener = (
  sql: string,
  run: <Row>(sql: string) => Promise<Row[]>,
  connection: object,
) => Promise<void>;

/** Receives each executed statement with its result and connection. */
export type ResultListener = (sql: string, answer: unknown, connection: object) => void;

/** Receives each error of a server or of a broken connection. */
export type ErrorListener = (error: unknown) => void;

interface InterceptingOptions {
  readonly multipleStatements?: boolean;
  readonly refused?: ErrorListener;
}

/**
 * mysql2 for the option `driver` of a DataSource. It intercepts all connections of the application and the library. It
 * sends one statement at a time, like some proxies, unless `multipleStatements` is set.
 */
export function interceptingDriver(
  beforeStatement: StatementListener,
  onResult: ResultListener = () => undefined,
  { multipleStatements = false, refused = () => undefined }: InterceptingOptions = {},
): object {
  const createPool = (options: PoolOptions): Pool => {
    const pool = mysql2.createPool({ ...options, multipleStatements });
    const getConnection = pool.getConnection.bind(pool);
    pool.getConnection = (callback) =>
      getConnection((error, connection) => {
        if (connection) intercept(connection, beforeStatement, onResult, refused);
        callback(error, connection);
      });
    return pool;
  };
  const createConnection = (options: ConnectionOptions): Connection => {
    const connection = mysql2.createConnection(options);
    intercept(connection, beforeStatement, onResult, refused);
    return connection;
  };
  return { ...mysql2, createPool, createConnection };
}

/** The statements of a text, as the library joins them. No value contains an unescaped line break. */
export function statementsOf(text: string): string[] {
  return text.split(';\n');
}

const intercepted = new WeakSet<Connection>();

function intercept(
  connection: Connection,
  beforeStatement: StatementListener,
  onResult: ResultListener,
  onError: ErrorListener,
): void {
  if (intercepted.has(connection)) return;
  intercepted.add(connection);
  const query = connection.query.bind(connection) as (...args: unknown[]) => unknown;
  connection.query = ((...args: unknown[]) => {
    const [first, values] = args;
    const statement = typeof first === 'string' ? { sql: first, values } : (first as { sql: string; values?: unknown });
    const given = Array.isArray(statement.values) ? (statement.values as never[]) : [];
    const run = <Row>(sql: string) =>
      new Promise<Row[]>((resolve, reject) => {
        query(sql, (error: Error | null, rows: Row[]) => (error ? reject(error) : resolve(rows)));
      });
    const sql = mysql2.format(statement.sql, given);
    const respond = args.at(-1) as (error: unknown, answer?: unknown, ...more: unknown[]) => void;
    const send = () =>
      void query(...args.slice(0, -1), (error: unknown, answer: unknown, ...more: unknown[]) => {
        if (error) onError(error);
        else onResult(sql, answer, connection);
        respond(error, answer, ...more);
      });
    beforeStatement(sql, run, connection).then(send, (error: unknown) => {
      // An error of a server leaves the connection usable.
      if ((error as { errno?: number }).errno === undefined) connection.destroy();
      respond(error);
    });
  }) as Connection['query'];
}
