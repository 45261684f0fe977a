import type { JobOverrides } from '../../job/enqueue-options.js';
import { keyToTakeAgain, type JobKey } from '../../job/job-key.js';
import { isHeld } from '../../job/key-decision.js';
import { parseOr } from './claimed-row.js';
import { holdKey, idOf, lockKeys, lookAtKeys, type KeyName } from './key-rows.js';
import type { MayStart } from './replay.js';
import { query, together, type Work } from './statement.js';

const KEYED = `
  SELECT id, queue, options
  FROM {history}
  WHERE id IN (:ids) AND options IS NOT NULL`;

/** A finished job that takes its key again when it is put back. */
export interface KeyedReturn extends KeyName {
  readonly id: number;
  readonly key: JobKey;
}

/** Read without locks: what a job was put in with never changes. In another queue than its own it takes no key. */
export function* keyedReturns(ids: readonly number[], to?: string): Work<KeyedReturn[]> {
  if (ids.length === 0) return [];
  const rows = yield* query<{ id: number; queue: string; options: string | null }>(KEYED, { ids });
  return rows.flatMap(({ id, queue, options }) => {
    const key = keyToTakeAgain(parseOr<JobOverrides>(options));
    return key && queue === (to ?? queue) ? [{ id: Number(id), queue, hash: key.hash, key }] : [];
  });
}

/**
 * Puts jobs back, those with keys only where their keys are free: of several with one key the first. The others stay where
 * they are, as do those that were not finished when `returns` were read.
 */
export function* putBackKeyed(
  returns: readonly KeyedReturn[],
  putBack: (mayStart: MayStart) => Work<number[]>,
): Work<number[]> {
  const keys = new Map(returns.map(({ queue, hash }) => [idOf({ queue, hash }), { queue, hash }]));
  const inOrder = [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
  const locked = yield* lockKeys(inOrder);
  const rows = yield* lookAtKeys(inOrder);
  const takers = new Map<number, KeyedReturn>();
  const free = new Set([...locked.keys()].filter((id) => !isHeld(rows.get(id)!)));
  for (const one of [...returns].sort((a, b) => a.id - b.id)) if (free.delete(idOf(one))) takers.set(one.id, one);
  const moved = yield* putBack((id, overrides) => takers.has(id) || !keyToTakeAgain(overrides));
  const holds = moved.flatMap((id) => takers.get(id) ?? []).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  yield* together(holds.map(({ id, queue, key }) => holdKey(queue, key, id)));
  return moved;
}
