import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { query, type Work } from '../core/statement.js';

const KNOWN_QUEUES = `
  SELECT queue
  FROM {queues}
  WHERE queue IN (:queues)`;

/** Reads first, so that only the first worker of a queue writes. */
export async function addQueues(
  database: Pick<SqlDatabase, 'runIdempotent'>,
  dialect: Pick<Dialect, 'addQueue'>,
  queues: readonly string[],
): Promise<void> {
  for (const queue of await database.runIdempotent(() => findUnknownQueues(queues)))
    await database.runIdempotent(() => dialect.addQueue(queue));
}

function* findUnknownQueues(queues: readonly string[]): Work<string[]> {
  if (queues.length === 0) return [];
  const known = new Set((yield* query<{ queue: string }>(KNOWN_QUEUES, { queues })).map(({ queue }) => queue));
  return queues.filter((queue) => !known.has(queue));
}
