import { deleteKeys } from '../keys/key-rows.js';
import { query, type Work } from '../core/statement.js';
import { deleteGroup } from '../groups/sql-group-store.js';
import { deleteLimits } from '../limits/sql-limit-store.js';
import { deleteMetrics } from '../metrics/fold-metrics.js';
import { clearStages } from '../people/stages.js';
import { deleteSchedule } from '../schedules/edit-schedules.js';
import { deleteSteps } from '../steps/sql-step-store.js';
import { deleteQueue } from '../topics/queue-registration.js';
import { deleteSubscriptions } from '../topics/subscriptions.js';

const KEYS = `
  SELECT key_hash
  FROM {keys} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue
  ORDER BY key_hash
  LIMIT :limit`;

const GROUPS = `
  SELECT group_key
  FROM {groups} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue
  ORDER BY group_key
  LIMIT :limit`;

const METRICS = `
  SELECT step_ms, starts_at, recorder
  FROM {metrics} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue
  ORDER BY step_ms, starts_at, recorder
  LIMIT :limit`;

// Without an index: a schedule is one row of a small table.
const SCHEDULES = `
  SELECT name
  FROM {schedules}
  WHERE queue = :queue
  ORDER BY name
  LIMIT :limit`;

/** Deletes rows of a queue, at most `limit`, and returns their number. */
type Eraser = (queue: string, limit: number) => Work<number>;

/** One for each table whose rows name a queue and outlive its jobs. Each call is a transaction. */
export const ERASERS: readonly Eraser[] = [eraseSchedules, eraseKeys, eraseGroups, eraseMetrics];

/** Deletes the rows of removed jobs that the pruner would delete later. */
export function* eraseTraces(jobIds: readonly number[]): Work<void> {
  if (jobIds.length === 0) return;
  yield* clearStages(jobIds);
  yield* deleteSteps(jobIds);
}

/** The last transaction: a queue that still has its row is not obliterated yet. */
export function* eraseQueue(queue: string): Work<void> {
  // In this order: see queue-registration.ts.
  yield* deleteQueue(queue);
  yield* deleteSubscriptions(queue);
  yield* deleteLimits(queue);
}

function* eraseKeys(queue: string, limit: number): Work<number> {
  const rows = yield* query<{ key_hash: string }>(KEYS, { queue, limit });
  yield* deleteKeys(rows.map(({ key_hash }) => ({ queue, hash: key_hash })));
  return rows.length;
}

function* eraseGroups(queue: string, limit: number): Work<number> {
  const rows = yield* query<{ group_key: string }>(GROUPS, { queue, limit });
  for (const { group_key } of rows) yield* deleteGroup({ queue, group: group_key });
  return rows.length;
}

function* eraseMetrics(queue: string, limit: number): Work<number> {
  const rows = yield* query<{ step_ms: number; starts_at: number; recorder: number }>(METRICS, { queue, limit });
  yield* deleteMetrics(
    rows.map(({ step_ms, starts_at, recorder }) => ({
      queue,
      stepMs: Number(step_ms),
      startsAtMs: Number(starts_at),
      recorder: Number(recorder),
    })),
  );
  return rows.length;
}

function* eraseSchedules(queue: string, limit: number): Work<number> {
  const rows = yield* query<{ name: string }>(SCHEDULES, { queue, limit });
  for (const { name } of rows) yield* deleteSchedule(name);
  return rows.length;
}
