import { statement, type Statement, type StatementResult } from '../core/statement.js';

// Reads the state, which is unused here: if the index alone could answer the query, MySQL would scan the whole index of a
// small table.
const LOCK = `
  SELECT group_key, state
  FROM {groups} {by primary}
  WHERE queue = :queue AND group_key IN (:groups)
  ORDER BY group_key {lock free}`;

const EXISTING = `
  SELECT group_key
  FROM {groups} {by primary}
  WHERE queue = :queue AND group_key IN (:groups)`;

/** The statements that lock those of the groups that no other transaction has locked, and read which groups exist. */
export function lockFreeGroups(queue: string, groups: readonly string[]): [Statement, Statement] {
  return [statement(LOCK, { queue, groups }), statement(EXISTING, { queue, groups })];
}

/** The groups that other transactions have locked, from the answers to these statements. */
export function lockedGroupsOf([free, existing]: readonly StatementResult[]): ReadonlySet<unknown> {
  const locked = new Set(existing!.rows.map((row) => row['group_key']));
  for (const row of free!.rows) locked.delete(row['group_key']);
  return locked;
}

/** The order of the primary key, in which every transaction locks the groups of a queue. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
