import { JobCancelledError } from '../../job/errors.js';
import type { HandOff } from './job-store.js';
import { transferJobs } from '../features/people/assign.js';
import { query, type Work } from '../core/statement.js';
import { lockCancelRequests } from '../rows/cancel-requests.js';

const SELECT_CLAIM = `
  SELECT 1 AS one
  FROM {claims}
  WHERE id = :to`;

/**
 * Moves a job from the claim of its worker to a claim of its own. Throws FenceError if the first claim has lost the
 * job. Throws JobCancelledError if the job has a cancellation request: the request belongs to the first claim, and no
 * process would honour it after the hand-off.
 *
 * @param isRetry the answer to an earlier commit was lost. Then the row of the new claim shows whether it succeeded
 */
export function* handOff({ job, from, to, workerId, leaseMs, deadLetter }: HandOff, isRetry: boolean): Work<void> {
  const cancelRequested = yield* lockCancelRequests(from);
  // After the lock: the server may still commit the earlier transaction, which keeps it until then.
  if (isRetry && (yield* query(SELECT_CLAIM, { to })).length > 0) return;
  if (cancelRequested.has(job.id)) throw new JobCancelledError(job.id, job.queue);
  yield* transferJobs({ from, jobs: [{ job, to }], workerId, owner: '', leaseMs, deadLetter });
}
