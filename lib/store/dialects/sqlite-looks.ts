import type { SqlDatabase } from '../sql/sql-database.js';
import { query } from '../sql/statement.js';
import type { Look } from './sqlite-doorbell.js';

const WAITING = `
  SELECT EXISTS (
    SELECT 1
    FROM {jobs} INDEXED BY {jobs}_claim
    WHERE queue IN (:queues) AND runnable = 1 AND state = 'waiting' AND run_at IS NULL
  ) AS waiting`;

// Which queues are paused, and since when somebody waits for jobs to end.
const STEERING = `
  SELECT (SELECT group_concat(queue) FROM {queues} WHERE paused <> 0) AS paused,
         (SELECT MAX(expires_at) FROM {waits}) AS awaited`;

/** A worker hears of jobs in its queues, and of what its next look would see. */
export function forWorkers(database: SqlDatabase): Look {
  const hasJobs = async (queues: readonly string[]) => {
    if (queues.length === 0) return false;
    const [row] = await database.repeatable(() => query<{ waiting: number }>(WAITING, { queues }));
    return row!.waiting > 0;
  };
  const steering = async () => JSON.stringify(await database.repeatable(() => query(STEERING)));
  return async (queues) => {
    const before = await steering();
    return async () => {
      if (await hasJobs(queues)) return 'jobs';
      return (await steering()) === before ? undefined : 'ring';
    };
  };
}

/** Whoever waits looks for himself what has become of his jobs, which takes microseconds here. */
export const forWaiters: Look = () => Promise.resolve(() => Promise.resolve('ring'));
