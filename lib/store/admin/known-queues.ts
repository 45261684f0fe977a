import { readNames } from '../../job/read-columns.js';
import type { Dialect } from '../core/sql-database.js';
import { executeAll, query, statement, type Work } from '../core/statement.js';

// Each condition reads at most one row by an index, except of the workers and the schedules, which are few.
const HAS_QUEUE = `
  SELECT CASE WHEN EXISTS (SELECT 1 FROM {queues} WHERE queue = :queue)
                OR EXISTS (SELECT 1 FROM {jobs} {by jobs.queue} WHERE queue = :queue)
                OR EXISTS (SELECT 1 FROM {history} {by history.state} WHERE queue = :queue)
                OR EXISTS (SELECT 1 FROM {limits} WHERE queue = :queue)
                OR EXISTS (SELECT 1 FROM {groups} WHERE queue = :queue)
                OR EXISTS (SELECT 1 FROM {subscriptions} WHERE queue = :queue)
                OR EXISTS (SELECT 1 FROM {schedules} WHERE queue = :queue)
                OR EXISTS (SELECT 1 FROM {workers} WHERE INSTR(queues, :quoted) > 0 OR INSTR(excluded, :quoted) > 0)
              THEN 1 ELSE 0 END AS found`;

const NAMES = ['queues', 'limits', 'subscriptions', 'schedules'] as const;
const EXCLUDED = 'SELECT excluded FROM {workers} WHERE excluded IS NOT NULL LIMIT 100';

/** Whether the database knows the queue. */
export function* hasQueue(queue: string): Work<boolean> {
  const [row] = yield* query<{ found: number }>(HAS_QUEUE, { queue, quoted: JSON.stringify(queue) });
  return Number(row!.found) === 1;
}

/** The names of the queues that the database knows, for a suggestion. */
export function* readQueueNames(dialect: Dialect): Work<string[]> {
  const ofJobs = [...(yield* dialect.queueNames('jobs')), ...(yield* dialect.queueNames('history'))];
  const reads = NAMES.map((table) => statement(`SELECT DISTINCT queue FROM {${table}}`));
  const [excluded, ...named] = yield* executeAll([statement(EXCLUDED), ...reads]);
  const others = named.flatMap(({ rows }) => rows.map(({ queue }) => queue as string));
  const ofWorkers = excluded!.rows.flatMap((row) => readNames(row['excluded']));
  return [...new Set([...ofJobs, ...others, ...ofWorkers])].sort();
}
