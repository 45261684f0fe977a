import mysql2 from 'mysql2';
import type { Connection, PoolOptions } from 'mysql2';

/** mysql2 before a server that gets other texts than were sent, for what no server of the tests does by itself. */
export function rewritingDriver(rewrite: (sql: string) => string): object {
  const createPool = (options: PoolOptions) => {
    const pool = mysql2.createPool(options);
    pool.on('connection', (made) => rewriteOn(made, rewrite));
    return pool;
  };
  return { ...mysql2, createPool };
}

/** As of a server that accepts SKIP LOCKED and locks nothing, as TiDB and Dolt do. */
export function withoutLocks(sql: string): string {
  return sql.replaceAll('FOR UPDATE SKIP LOCKED', '');
}

function rewriteOn(connection: Connection, rewrite: (sql: string) => string): void {
  const query = connection.query.bind(connection) as (...args: unknown[]) => unknown;
  connection.query = ((first: string | { sql: string }, ...rest: unknown[]) => {
    if (typeof first === 'string') return query(rewrite(first), ...rest);
    return query({ ...first, sql: rewrite(first.sql) }, ...rest);
  }) as Connection['query'];
}
