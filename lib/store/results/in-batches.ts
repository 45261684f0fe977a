import { batchesOf } from '../../common/batches-of.js';

// SQLite allows 32,766 values in one statement, and `readAwaitedJobs` needs two for each id.
const BATCH_SIZE = 5_000;

/** Calls `act` for one batch of ids after the other, and returns the results. */
export async function inBatches<T>(
  ids: readonly number[],
  act: (batch: readonly number[]) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (const batch of batchesOf(ids, BATCH_SIZE)) results.push(await act(batch));
  return results;
}
