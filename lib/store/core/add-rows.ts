import type { Dialect } from './sql-database.js';
import { execute, insertInChunks } from './statement.js';

/** @param insert the beginning of an INSERT that omits rows whose keys exist */
export function addRowsBy(insert: string): Pick<Dialect, 'addQueues' | 'addKeys'> {
  const ADD_QUEUES = `
  ${insert} INTO {queues} (queue, paused, created_at)
  VALUES :rows(?, 0, :now)`;
  const ADD_KEYS = `
  ${insert} INTO {keys} (queue, key_hash, kept_until)
  VALUES :rows(?, ?, :now + ?)`;
  return {
    *addQueues(queues) {
      yield* execute(ADD_QUEUES, { rows: queues.map((queue) => [queue]) });
    },

    *addKeys(keys, retentionMs) {
      const rows = keys.map(({ queue, hash }) => [queue, hash, retentionMs]);
      yield* insertInChunks(ADD_KEYS, rows);
    },
  };
}
