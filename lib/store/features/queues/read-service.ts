import { readSlots } from '../../../job/read-columns.js';
import { executeAll, statement, type Work } from '../../core/statement.js';
import type { QueueService } from './queue-store.js';

export const LIVE_WORKERS = `
  SELECT queues
  FROM {workers}
  WHERE seen_at > :now - 60000`;

const KNOWN_QUEUES = `
  SELECT queue, served_at
  FROM {queues}`;

const HAS_HISTORY = `
  SELECT id
  FROM {history} {by history.state}
  WHERE queue = :queue
  LIMIT 1`;

// The claims of people and other programs, which are no rows of {workers}. A crashed worker stays there for a day, so the
// jobs that it has handed off do not hide that its queue lacks a worker.
const CONSUMED_QUEUES = `
  SELECT DISTINCT queue
  FROM (
    SELECT c.queue
    FROM {claims} c
    WHERE c.queue IN (:queues) AND c.owner IS NOT NULL AND c.lease_until > :now
      AND NOT EXISTS (SELECT 1 FROM {workers} w WHERE w.id = c.worker_id)
    LIMIT 20000
  ) AS assigned`;

/** Reads without locks. */
export function* readService(queues: readonly string[]): Work<QueueService> {
  if (queues.length === 0) return { unserved: [], known: [], served: [] };
  const [workers, rows, consumed, ...histories] = yield* executeAll([
    statement(LIVE_WORKERS),
    statement(KNOWN_QUEUES),
    statement(CONSUMED_QUEUES, { queues }),
    ...queues.map((queue) => statement(HAS_HISTORY, { queue })),
  ]);
  const served = new Set(workers!.rows.flatMap(({ queues: names }) => [...readSlots(names).keys()]));
  const known = rows!.rows.map(({ queue }) => queue as string);
  const wasServed = new Set(rows!.rows.filter((row) => row['served_at'] !== null).map(({ queue }) => queue as string));
  const isTakenFrom = new Set(consumed!.rows.map(({ queue }) => queue as string));
  const hasNoWorker = (queue: string, index: number) => {
    // Jobs ended, but no worker ever served the queue: people or other programs take its jobs.
    const isConsumed = !wasServed.has(queue) && histories[index]!.rows.length > 0;
    return !served.has(queue) && !isConsumed && !isTakenFrom.has(queue);
  };
  return { unserved: queues.filter(hasNoWorker), known, served: [...served] };
}
