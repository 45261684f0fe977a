import mysql2 from 'mysql2';
import type { Pool, PoolConnection, PoolOptions } from 'mysql2';

/**
 * Called with each statement as the server will read it, before it is sent; the statement waits for it. `ask` sends
 * another one on the same connection, in the same transaction.
 */
export type Listener = (sql: string, ask: <Row>(sql: string) => Promise<Row[]>) => Promise<void>;

/** mysql2 for the option `driver` of a DataSource: the application's pool and the library's own both go through it. */
export function recordingDriver(listen: Listener): object {
  const createPool = (options: PoolOptions): Pool => {
    const pool = mysql2.createPool(options);
    const getConnection = pool.getConnection.bind(pool);
    pool.getConnection = (callback) =>
      getConnection((error, connection) => {
        if (connection) record(connection, listen);
        callback(error, connection);
      });
    return pool;
  };
  return { ...mysql2, createPool };
}

const recorded = new WeakSet<PoolConnection>();

function record(connection: PoolConnection, listen: Listener): void {
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
    const send = () => void query(...args);
    listen(mysql2.format(asked.sql, given), ask).then(send, (error: unknown) => {
      connection.destroy();
      (args.at(-1) as (error: unknown) => void)(error);
    });
  }) as PoolConnection['query'];
}
