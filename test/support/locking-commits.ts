import type { StatementListener } from './intercepting-driver.js';

const BEGINS = /^START TRANSACTION/;
const PLAIN_READ = /^\s*SELECT\b(?!.*\bFOR UPDATE\b)/s;

/** Calls `onCommit` before each COMMIT of a transaction that has locked or written rows. */
export function beforeLockingCommits(onCommit: StatementListener): StatementListener {
  const locking = new WeakSet();
  return async (sql, run, connection) => {
    if (sql === 'COMMIT') {
      if (locking.has(connection)) await onCommit(sql, run, connection);
    } else if (BEGINS.test(sql)) locking.delete(connection);
    else if (!PLAIN_READ.test(sql)) locking.add(connection);
  };
}
