import type { HandOff } from '../job-store.js';
import { passOn } from './assign.js';
import { query, type Work } from './statement.js';

const THERE = `
  SELECT 1 AS one
  FROM {claims}
  WHERE id = :to`;

/**
 * The job leaves its worker's claim for one of its own. Throws a ShortCountError where it had left that claim before.
 *
 * @param again the answer to the commit of before was lost: the claim's row tells whether it was done
 */
export function* handOff({ job, from, to, workerId, leaseMs }: HandOff, again: boolean): Work<void> {
  if (again && (yield* query(THERE, { to })).length > 0) return;
  yield* passOn({ from, taken: [{ job, to }], workerId, owner: '', leaseMs });
}
