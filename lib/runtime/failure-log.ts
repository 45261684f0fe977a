import type { ClaimedJob } from '../job/job.js';
import type { Outcome } from '../job/outcome.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { StoredError } from '../job/stored-error.js';
import type { JobLogger } from './job-logger.js';

type Failed = Pick<ClaimedJob, 'id' | 'queue' | 'name' | 'attempt' | 'maxAttempts'>;

/**
 * Logs runs that failed, once their outcomes have committed, unless their queue has `logFailures: false`. What it says comes
 * from the error: never the payload.
 */
export class FailureLog {
  constructor(
    private readonly logger: JobLogger,
    private readonly optionsFor: (queue: string) => Pick<ResolvedQueueOptions, 'logFailures'>,
  ) {}

  settled(job: Failed, outcome: Outcome): void {
    if (!('error' in outcome) || !outcome.error || !this.optionsFor(job.queue).logFailures) return;
    const { attempt, maxAttempts, queue, name, id } = job;
    const { stack } = outcome.error;
    const which = `Job ${id} "${name}" of queue "${queue}"`;
    const error = lineOf(outcome.error);
    if (outcome.kind === 'dead') {
      this.logger.error(`${which} is dead after attempt ${attempt} of ${maxAttempts}: ${error}`, stack);
    } else if (outcome.kind === 'retry') {
      const when = outcome.delayMs === 0 ? 'at once' : `in ${outcome.delayMs / 1_000} s`;
      this.logger.warn(`${which} failed in attempt ${attempt} of ${maxAttempts}, to be retried ${when}: ${error}`);
      if (stack !== undefined) this.logger.debug(stack);
    } else this.logger.warn(`${which} is completed, but its result was not kept: ${outcome.error.message}`);
  }
}

function lineOf({ name, message }: StoredError): string {
  return `${name}: ${message}`;
}
