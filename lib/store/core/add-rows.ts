import type { Dialect } from './sql-database.js';
import { execute } from './statement.js';

/** @param insert the beginning of an INSERT that omits rows whose keys exist */
export function addRowsBy(insert: string): Pick<Dialect, 'addQueue' | 'addKeys'> {
  const ADD_QUEUE = `
  ${insert} INTO {queues} (queue, paused, created_at)
  VALUES (:queue, 0, :now)`;
  const ADD_KEYS = `
  ${insert} INTO {keys} (queue, key_hash, kept_until)
  VALUES :rows(?, ?, :now + ?)`;
  return {
    *addQueue(queue) {
      yield* execute(ADD_QUEUE, { queue });
    },

    *addKeys(keys, retentionMs) {
      const rows = keys.map(({ queue, hash }) => [queue, hash, retentionMs]);
      yield* execute(ADD_KEYS, { rows });
    },
  };
}
