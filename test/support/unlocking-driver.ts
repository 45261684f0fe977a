import mysql2 from 'mysql2';
import type { Connection, PoolOptions } from 'mysql2';

/** mysql2 before a server that accepts SKIP LOCKED and locks nothing, as TiDB and Dolt do. */
export function unlockingDriver(): object {
  const createPool = (options: PoolOptions) => {
    const pool = mysql2.createPool(options);
    pool.on('connection', (made) => unlock(made));
    return pool;
  };
  return { ...mysql2, createPool };
}

function unlock(connection: Connection): void {
  const query = connection.query.bind(connection) as (...args: unknown[]) => unknown;
  connection.query = ((first: string | { sql: string }, ...rest: unknown[]) => {
    const plain = (sql: string) => sql.replaceAll('FOR UPDATE SKIP LOCKED', '');
    return query(typeof first === 'string' ? plain(first) : { ...first, sql: plain(first.sql) }, ...rest);
  }) as Connection['query'];
}
