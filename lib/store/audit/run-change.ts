import type { SqlDatabase } from '../core/sql-database.js';
import { execute, relay, type Work } from '../core/statement.js';
import type { AuditEntry, Change } from './audit-store.js';

// Replaces the entry of an earlier transaction of the same call. A call that changes nothing writes nothing, so a call that
// is repeated after a lost answer keeps the entry of its first run.
const WRITE = `
  REPLACE INTO {audit} (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (:id, :verb, :queue, :by, :details, :count, :now)`;

/**
 * Runs the work of a change in a transaction of its own or in that of the caller, with its entry in the audit.
 *
 * @param countOf how many things the work has changed, by its value
 * @param queueOf the queue of the change, by the value, if the work emits no event
 */
export function runChange<T>(
  database: Pick<SqlDatabase, 'transaction' | 'inCallerTransaction'>,
  { audit, transaction }: Change,
  work: () => Work<T>,
  countOf: (value: T) => number,
  queueOf?: (value: T) => string | undefined,
): Promise<T> {
  const withEntry = () => audited(work(), audit, countOf, queueOf);
  return transaction ? database.inCallerTransaction(transaction, withEntry) : database.transaction(withEntry);
}

/** The work, and the entry if it has changed anything. */
export function* audited<T>(
  work: Work<T>,
  entry: AuditEntry | undefined,
  countOf: (value: T) => number,
  queueOf: (value: T) => string | undefined = () => undefined,
): Work<T> {
  if (!entry) return yield* work;
  const queues = new Set<string>();
  const value = yield* relay(work, function* (step) {
    for (const { queue } of step.events?.(() => true) ?? []) queues.add(queue);
    return yield step;
  });
  const changed = countOf(value);
  if (changed === 0) return value;
  const { count, ...columns } = entry;
  const ofJobs = queues.size === 1 ? [...queues][0] : undefined;
  const queue = entry.queue ?? queueOf(value) ?? ofJobs ?? null;
  yield* execute(WRITE, { ...columns, queue, count: count + changed });
  return value;
}
