import mysql2 from 'mysql2';
import type { Connection, Pool, PoolOptions } from 'mysql2';
import { statementsOf } from './intercepting-driver.js';

export interface Driver {
  createPool(options: PoolOptions): Pool;
}

/** A driver with rewritten statements, each by itself, to simulate servers that the tests do not have. */
export function rewritingDriver(rewrite: (sql: string) => string, driver: Driver = mysql2): object {
  const createPool = (options: PoolOptions) => {
    const pool = driver.createPool(options);
    const rewriteAll = (text: string) => statementsOf(text).map(rewrite).join(';\n');
    pool.on('connection', (made) => rewriteStatementsOf(made, rewriteAll));
    return pool;
  };
  return { ...driver, createPool };
}

/** The sessions of the library wait this long for a lock, and not one second. */
export function waitForLocks(seconds: number): (sql: string) => string {
  return (sql) => {
    if (!sql.includes('innodb_lock_wait_timeout')) return sql;
    const rewritten = sql.replace(/innodb_lock_wait_timeout = \d+/, `innodb_lock_wait_timeout = ${seconds}`);
    if (!rewritten.includes(`innodb_lock_wait_timeout = ${seconds}`))
      throw new Error(`expected a number of seconds in ${sql}`);
    return rewritten;
  };
}

/** Simulates a server that accepts SKIP LOCKED and locks nothing, such as TiDB and Dolt. */
export function removeSkipLocked(sql: string): string {
  return sql.replaceAll('FOR UPDATE SKIP LOCKED', '');
}

function rewriteStatementsOf(connection: Connection, rewrite: (sql: string) => string): void {
  const query = connection.query.bind(connection) as (...args: unknown[]) => unknown;
  connection.query = ((first: string | { sql: string }, ...rest: unknown[]) => {
    if (typeof first === 'string') return query(rewrite(first), ...rest);
    return query({ ...first, sql: rewrite(first.sql) }, ...rest);
  }) as Connection['query'];
}
