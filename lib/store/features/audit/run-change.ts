import { inCallerTransaction } from '../../core/caller-transaction.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import { execute, relay, type Work } from '../../core/statement.js';
import { queueOfEntry, type Change } from './audit-store.js';

// Replaces the entry of an earlier transaction of the same call. A call that changes nothing writes nothing, so a call that
// is repeated after a lost answer keeps the entry of its first run.
const WRITE = `
  REPLACE INTO {audit} (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (:id, :verb, :queue, :by, :details, :count, :now)`;

/**
 * Runs the work of a change in a transaction of its own or in that of the caller, with its entry in the audit.
 *
 * @param countOf how many things the work has changed, by its value; default: one
 * @param queuesOf the queues of the change, by its value, if the work emits no event for each of its jobs
 */
export function runChange<T>(
  database: Pick<SqlDatabase, 'transaction' | 'holdCallerTransaction'>,
  change: Change = {},
  work: () => Work<T>,
  countOf?: (value: T) => number,
  queuesOf?: (value: T) => readonly string[],
): Promise<T> {
  const withEntry = () => audited(work(), change, countOf, queuesOf);
  const { transaction } = change;
  return transaction ? inCallerTransaction(database, transaction, withEntry) : database.transaction(withEntry);
}

/** The work, and the entry if it has changed anything. */
export function* audited<T>(
  work: Work<T>,
  { audit, onChange }: Change,
  countOf: (value: T) => number = () => 1,
  queuesOf: (value: T) => readonly string[] = () => [],
): Work<T> {
  const queues = new Set(audit?.queues);
  const value = yield* relay(work, function* (step) {
    if (audit) for (const { queue } of step.events?.(() => true) ?? []) queues.add(queue);
    return yield step;
  });
  const count = countOf(value);
  for (const queue of queuesOf(value)) queues.add(queue);
  onChange?.(count, queues);
  if (!audit || count === 0) return value;
  const { id, verb, by, details } = audit;
  const entry = { ...audit, count: audit.count + count, queues };
  yield* execute(WRITE, { id, verb, by, details, queue: queueOfEntry(entry), count: entry.count });
  return value;
}
