import type { JobOverrides } from '../../job/job-overrides.js';
import { keyToRestore, isKeyTaken, type JobKey } from '../../job/job-key.js';
import { parseJsonOrNull } from '../core/parse-json.js';
import { acquireKey, inLockOrder, keyIdOf, lockKeys, readKeys, type KeyRows } from '../features/keys/key-rows.js';
import type { MayReenqueue } from './replay-jobs.js';
import { query, executeAll, type Work } from '../core/statement.js';
import type { KeyName } from '../core/sql-database.js';

const KEYED = `
  SELECT id, queue, options
  FROM {history}
  WHERE id IN (:ids) AND options IS NOT NULL`;

/** A finished job that acquires its key again when it returns to its queue. */
export interface KeyedReenqueue extends KeyName {
  readonly id: number;
  readonly key: JobKey;
}

/** Reads without locks, because the key of a job never changes. A job that moves to another queue acquires no key. */
export function* findKeyedReenqueues(ids: readonly number[], to?: string): Work<KeyedReenqueue[]> {
  if (ids.length === 0) return [];
  const rows = yield* query<{ id: number; queue: string; options: string | null }>(KEYED, { ids });
  return rows.flatMap(({ id, queue, options }) => {
    const key = keyToRestore(parseJsonOrNull<JobOverrides>(options));
    return key && queue === (to ?? queue) ? [{ id: Number(id), queue, hash: key.hash, key }] : [];
  });
}

/** The distinct keys of the jobs in the order of their locks. */
export function keysToReenqueue(reenqueues: readonly KeyedReenqueue[]): KeyName[] {
  const keys = new Map(reenqueues.map(({ queue, hash }) => [keyIdOf({ queue, hash }), { queue, hash }]));
  return inLockOrder([...keys.values()]);
}

/**
 * Returns finished jobs to their queue. A job with a key returns only if the key is free; of several jobs with one key,
 * the one with the lowest id returns. The others stay finished, as do jobs that were not finished when `reenqueues` was
 * read.
 *
 * @param lockedRows the rows of the keys, if the transaction has locked them already
 */
export function* reenqueueKeyed(
  reenqueues: readonly KeyedReenqueue[],
  reenqueue: (mayReenqueue: MayReenqueue) => Work<number[]>,
  lockedRows?: KeyRows,
): Work<number[]> {
  const rows = lockedRows ?? (yield* lockAndReadKeys(keysToReenqueue(reenqueues)));
  const owners = new Map<number, KeyedReenqueue>();
  const free = new Set([...rows.keys()].filter((id) => !isKeyTaken(rows.get(id)!)));
  for (const reenqueued of [...reenqueues].sort((a, b) => a.id - b.id)) {
    if (free.delete(keyIdOf(reenqueued))) owners.set(reenqueued.id, reenqueued);
  }
  const moved = yield* reenqueue((id, overrides) => owners.has(id) || !keyToRestore(overrides));
  const acquiring = moved.flatMap((id) => owners.get(id) ?? []);
  yield* executeAll(inLockOrder(acquiring).map(({ id, queue, key }) => acquireKey(queue, key, id)));
  return moved;
}

/** For a transaction that reads every commit before the lock. */
function* lockAndReadKeys(keys: readonly KeyName[]): Work<KeyRows> {
  yield* lockKeys(keys);
  return yield* readKeys(keys);
}
