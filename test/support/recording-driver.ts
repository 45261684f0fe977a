import mysql2 from 'mysql2';
import type { Connection, ConnectionOptions, Pool, PoolOptions } from 'mysql2';

/**
 * Called with each statement as the server will read it, before it is sent; the statement waits for it. `ask` sends
 * another one on the same connection, in the same transaction.
 */
export type Listener = (sql: string, ask: <Row>(sql: string) => Promise<Row[]>, connection: object) => Promise<void>;

/** Called with each statement that the server has done, with its answer and the connection it was sent on. */
export type AnswerListener = (sql: string, answer: unknown, connection: object) => void;

/** Called with what a server refuses, and with what comes of a connection that breaks. */
export type RefusalListener = (error: unknown) => void;

interface RecordingOptions {
  readonly multipleStatements?: boolean;
  readonly refused?: RefusalListener;
}

/**
 * mysql2 for the option `driver` of a DataSource: all connections of the application and the library go through it. One
 * statement at a time, as with some proxies, unless several are to travel as one text.
 */
export function recordingDriver(
  listen: Listener,
  answered: AnswerListener = () => undefined,
  { multipleStatements = false, refused = () => undefined }: RecordingOptions = {},
): object {
  const createPool = (options: PoolOptions): Pool => {
    const pool = mysql2.createPool({ ...options, multipleStatements });
    const getConnection = pool.getConnection.bind(pool);
    pool.getConnection = (callback) =>
      getConnection((error, connection) => {
        if (connection) record(connection, listen, answered, refused);
        callback(error, connection);
      });
    return pool;
  };
  const createConnection = (options: ConnectionOptions): Connection => {
    const connection = mysql2.createConnection(options);
    record(connection, listen, answered, refused);
    return connection;
  };
  return { ...mysql2, createPool, createConnection };
}

/** The statements of a text, as the library joins them. No value has a line break that is not escaped. */
export function statementsOf(text: string): string[] {
  return text.split(';\n');
}

const recorded = new WeakSet<Connection>();

function record(connection: Connection, listen: Listener, answered: AnswerListener, refused: RefusalListener): void {
  if (recorded.has(connection)) return;
  recorded.add(connection);
  const query = connection.query.bind(connection) as (...args: unknown[]) => unknown;
  connection.query = ((...args: unknown[]) => {
    const [first, values] = args;
    const asked = typeof first === 'string' ? { sql: first, values } : (first as { sql: string; values?: unknown });
    const given = Array.isArray(asked.values) ? (asked.values as never[]) : [];
    const ask = <Row>(sql: string) =>
      new Promise<Row[]>((resolve, reject) => {
        query(sql, (error: Error | null, rows: Row[]) => (error ? reject(error) : resolve(rows)));
      });
    const sql = mysql2.format(asked.sql, given);
    const give = args.at(-1) as (error: unknown, answer?: unknown, ...more: unknown[]) => void;
    const send = () =>
      void query(...args.slice(0, -1), (error: unknown, answer: unknown, ...more: unknown[]) => {
        if (error) refused(error);
        else answered(sql, answer, connection);
        give(error, answer, ...more);
      });
    listen(sql, ask, connection).then(send, (error: unknown) => {
      // What a server answers leaves the connection as it is.
      if ((error as { errno?: number }).errno === undefined) connection.destroy();
      give(error);
    });
  }) as Connection['query'];
}
