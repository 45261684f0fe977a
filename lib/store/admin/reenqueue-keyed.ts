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
  const byId = new Map(reenqueues.map((each) => [each.id, each]));
  const free = new Set([...rows.keys()].filter((id) => !isKeyTaken(rows.get(id)!)));
  const owners: KeyedReenqueue[] = [];
  // Asked in the order of the ids, and only about jobs that would return: a completed one must not take a key from a dead one.
  const moved = yield* reenqueue((id, overrides) => {
    const reenqueued = byId.get(id);
    if (!reenqueued) return !keyToRestore(overrides);
    const isOwner = free.delete(keyIdOf(reenqueued));
    if (isOwner) owners.push(reenqueued);
    return isOwner;
  });
  yield* executeAll(inLockOrder(owners).map(({ id, queue, key }) => acquireKey(queue, key, id)));
  return moved;
}

/** For a transaction that reads every commit before the lock. */
function* lockAndReadKeys(keys: readonly KeyName[]): Work<KeyRows> {
  yield* lockKeys(keys);
  return yield* readKeys(keys);
}
