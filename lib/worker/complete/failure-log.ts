import type { ClaimedJob } from '../../job/job.js';
import type { Outcome } from '../../job/outcome.js';
import type { WorkerParts } from '../worker-parts.js';
import { logStack, logText } from '../../common/log-text.js';
import { jobLogParams } from '../../job/log-params.js';

type LoggedJob = Pick<ClaimedJob, 'id' | 'queue' | 'name' | 'attempt' | 'maxAttempts'> & { headers?: string | null };

/** Logs a failed attempt after the commit, unless its queue has `logFailures: false`. Never logs a payload. */
export function logFailure(
  job: LoggedJob,
  outcome: Outcome,
  { logger, optionsFor, workerId }: Pick<WorkerParts, 'logger' | 'optionsFor'> & { workerId?: string | null },
): void {
  if (!('error' in outcome) || !outcome.error || !optionsFor(job.queue).logFailures) return;
  const { attempt, maxAttempts, queue, name, id } = job;
  const message = logText(outcome.error.message);
  const stack = logStack(outcome.error.stack, outcome.error.message);
  const params = jobLogParams(job, workerId);
  const subject = `Job ${id} "${name}" of queue "${queue}"`;
  const error = `${outcome.error.name}: ${message}`;
  if (outcome.kind === 'dead') {
    logger.error(`${subject} is dead after attempt ${attempt} of ${maxAttempts}: ${error}`, stack, params);
  } else if (outcome.kind === 'retry') {
    const delay = outcome.delayMs === 0 ? 'at once' : `in ${outcome.delayMs / 1_000} s`;
    logger.warn(`${subject} failed in attempt ${attempt} of ${maxAttempts}, to be retried ${delay}: ${error}`, params);
    if (stack !== undefined) logger.debug(stack, params);
  } else logger.warn(`${subject} is completed, but its result was not kept: ${message}`, params);
}
