import { readNames } from '../../../job/read-columns.js';
import { executeAll, statement, type Work } from '../../core/statement.js';
import type { QueueService } from './queue-store.js';

const LIVE_WORKERS = `
  SELECT queues
  FROM {workers}
  WHERE seen_at > :now - 60000`;

// A worker adds the rows of its queues when it registers.
const KNOWN_QUEUES = `
  SELECT queue
  FROM {queues}`;

const HAS_HISTORY = `
  SELECT id
  FROM {history} {by history.state}
  WHERE queue = :queue
  LIMIT 1`;

/** Reads without locks. */
export function* readService(queues: readonly string[]): Work<QueueService> {
  const [workers, rows, ...histories] = yield* executeAll([
    statement(LIVE_WORKERS),
    statement(KNOWN_QUEUES),
    ...queues.map((queue) => statement(HAS_HISTORY, { queue })),
  ]);
  const served = new Set(workers!.rows.flatMap(({ queues: names }) => readNames(names as string)));
  const known = rows!.rows.map(({ queue }) => queue as string);
  const isKnown = new Set(known);
  const hasNoWorker = (queue: string, index: number) => {
    // Jobs ended, but no worker ever served the queue: people or other programs take its jobs.
    const isConsumed = !isKnown.has(queue) && histories[index]!.rows.length > 0;
    return !served.has(queue) && !isConsumed;
  };
  return { unserved: queues.filter(hasNoWorker), known };
}
