import { workerIdOf } from '../notifications/notification-channel.js';
import type { SqlDatabase } from '../core/sql-database.js';
import { ARRIVING, RETURNED } from '../runnable.js';
import { query } from '../core/statement.js';
import type { NotificationCheck } from './sqlite-notification-channel.js';

const WAITING = `
  SELECT EXISTS (
    SELECT 1
    FROM {jobs} INDEXED BY {jobs}_queue
    WHERE queue IN (:queues) AND runnable IN (1, ${ARRIVING}, ${RETURNED}) AND state = 'waiting' AND run_at IS NULL
  ) AS waiting`;

const CONTROL_STATE = `
  SELECT (SELECT group_concat(queue) FROM {queues} WHERE paused <> 0) AS paused,
         (SELECT group_concat(cancel_requests)
          FROM {claims}
          WHERE worker_id IN (:workers) AND cancel_requests IS NOT NULL) AS cancel_requests,
         (SELECT MAX(expires_at) FROM {waits}) AS awaited`;

// Of the same queues as a work summary: those with a row in `queues`. Of all schedules, also those of other programs.
const NEXT_DUE = `
  SELECT MIN(due) AS due
  FROM (
    SELECT (
      SELECT s.run_at
      FROM {jobs} s INDEXED BY {jobs}_queue
      WHERE s.queue = q.queue AND s.runnable = 0 AND s.run_at > 0
      ORDER BY s.run_at
      LIMIT 1
    ) AS due
    FROM {queues} q
    UNION ALL
    SELECT MIN(next_at)
    FROM {schedules}
  )`;

/** Wakes a worker for jobs in its queues, for an earlier due time or tick, and for changes that its next work summary reads. */
export function checkForWorkers(database: SqlDatabase): NotificationCheck {
  const hasJobs = async (names: readonly string[]) => {
    const queues = names.filter((name) => workerIdOf(name) === undefined);
    if (queues.length === 0) return false;
    const [row] = await database.runIdempotent(() => query<{ waiting: number }>(WAITING, { queues }));
    return row!.waiting > 0;
  };
  const readControlState = async (names: readonly string[]) => {
    const workers = names.map((name) => workerIdOf(name) ?? '');
    return JSON.stringify(await database.runIdempotent(() => query(CONTROL_STATE, { workers })));
  };
  const nextDue = async () => {
    const [row] = await database.runIdempotent(() => query<{ due: number | null }>(NEXT_DUE));
    return row?.due ?? Infinity;
  };
  return async (names) => {
    const before = await readControlState(names);
    const dueBefore = await nextDue();
    return async () => {
      if (await hasJobs(names)) return 'jobs';
      return (await readControlState(names)) === before && (await nextDue()) >= dueBefore ? undefined : 'wake-up';
    };
  };
}

/** Wakes every waiting process. Each reads the state of its jobs, which takes microseconds here. */
export const checkForWaiters: NotificationCheck = () => Promise.resolve(() => Promise.resolve('wake-up'));
