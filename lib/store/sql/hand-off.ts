import { JobCancelledError } from '../../job/errors.js';
import type { HandOff } from '../job-store.js';
import { passOn } from './assign.js';
import { query, type Work } from './statement.js';
import { lockWishes } from './wishes.js';

const THERE = `
  SELECT 1 AS one
  FROM {claims}
  WHERE id = :to`;

/**
 * The job leaves its worker's claim for one of its own. Throws a ShortCountError where it had left that claim before, and
 * a JobCancelledError where somebody wants it cancelled: the wish stands with the claim, and nobody would heed it there.
 *
 * @param again the answer to the commit of before was lost: the claim's row tells whether it was done
 */
export function* handOff({ job, from, to, workerId, leaseMs, deadLetter }: HandOff, again: boolean): Work<void> {
  if (again && (yield* query(THERE, { to })).length > 0) return;
  if ((yield* lockWishes(from)).has(job.id)) throw new JobCancelledError(job.id, job.queue);
  yield* passOn({ from, taken: [{ job, to }], workerId, owner: '', leaseMs, deadLetter });
}
