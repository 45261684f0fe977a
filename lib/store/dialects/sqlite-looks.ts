import { workerOf } from '../doorbell.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { query } from '../sql/statement.js';
import type { Look } from './sqlite-doorbell.js';

const WAITING = `
  SELECT EXISTS (
    SELECT 1
    FROM {jobs} INDEXED BY {jobs}_claim
    WHERE queue IN (:queues) AND runnable = 1 AND state = 'waiting' AND run_at IS NULL
  ) AS waiting`;

// Which queues are paused, which jobs of the worker are to be cancelled, and since when somebody waits for jobs to end.
const STEERING = `
  SELECT (SELECT group_concat(queue) FROM {queues} WHERE paused <> 0) AS paused,
         (SELECT group_concat(cancelled) FROM {claims} WHERE worker_id IN (:workers) AND cancelled IS NOT NULL) AS cancelled,
         (SELECT MAX(expires_at) FROM {waits}) AS awaited`;

// As far as a worker's survey sees it: of all queues that a worker ever had.
const NEXT_DUE = `
  SELECT MIN(
           (SELECT s.run_at FROM {jobs} s INDEXED BY {jobs}_claim
            WHERE s.queue = q.queue AND s.runnable = 0 AND s.run_at > 0 ORDER BY s.run_at LIMIT 1)
         ) AS due
  FROM {queues} q`;

/** A worker hears of jobs in its queues, of one that will be due sooner, and of what else its next look would see. */
export function forWorkers(database: SqlDatabase): Look {
  const hasJobs = async (names: readonly string[]) => {
    const queues = names.filter((name) => workerOf(name) === undefined);
    if (queues.length === 0) return false;
    const [row] = await database.repeatable(() => query<{ waiting: number }>(WAITING, { queues }));
    return row!.waiting > 0;
  };
  const steering = async (names: readonly string[]) => {
    const workers = names.map((name) => workerOf(name) ?? '');
    return JSON.stringify(await database.repeatable(() => query(STEERING, { workers })));
  };
  const nextDue = async () => {
    const [row] = await database.repeatable(() => query<{ due: number | null }>(NEXT_DUE));
    return row?.due ?? Infinity;
  };
  return async (names) => {
    const before = await steering(names);
    const dueBefore = await nextDue();
    return async () => {
      if (await hasJobs(names)) return 'jobs';
      return (await steering(names)) === before && (await nextDue()) >= dueBefore ? undefined : 'ring';
    };
  };
}

/** Whoever waits looks for himself what has become of his jobs, which takes microseconds here. */
export const forWaiters: Look = () => Promise.resolve(() => Promise.resolve('ring'));
