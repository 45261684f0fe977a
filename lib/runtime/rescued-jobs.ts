import { isFinal, silenceError, type Silent } from '../job/outcome.js';
import { storedError } from '../job/stored-error.js';
import type { Rescued } from '../store/job-store.js';
import type { AwaitedJobs } from './awaited-jobs.js';
import type { FailureLog } from './failure-log.js';
import type { JobLogger } from './job-logger.js';
import type { QueueEvents } from './queue-events.js';

export interface RescuedJobsParts {
  readonly events: QueueEvents;
  readonly awaited: AwaitedJobs;
  readonly logger: JobLogger;
  readonly failures: Pick<FailureLog, 'settled'>;
  /** So many jobs of the queue can be claimed by anybody again. */
  readonly share: (queue: string, jobs: number) => void;
  /** A job of the queue will be due in so many milliseconds. */
  readonly expectDue: (queue: string, ms: number) => void;
}

/** What follows from the rescues of this process. */
export class RescuedJobs {
  constructor(private readonly parts: RescuedJobsParts) {}

  tell(rescued: readonly Rescued[]): void {
    const { events, awaited, logger, failures, share, expectDue } = this.parts;
    const counts = new Map<string, number>();
    for (const { job, outcome, deadLetter } of rescued) {
      const { id: jobId, queue, name, attempt, owner } = job;
      const about = {
        jobId,
        queue,
        name,
        attempt,
        owner: owner || null,
        ranMs: null,
        error: storedError(silenceError(job)),
      };
      const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
      events.emit({ ...about, event: 'rescued', delayMs });
      if (isFinal(outcome)) awaited.ended(job);
      if (outcome.kind === 'cancel') events.emit({ ...about, event: 'cancelled', error: undefined });
      if (outcome.kind === 'dead') {
        events.emit({ ...about, event: 'dead' });
        failures.settled(job, outcome);
        if (deadLetter) share(deadLetter, 1);
      } else if (delayMs > 0) expectDue(queue, delayMs);
      else if (outcome.kind !== 'cancel') share(queue, 1);
      const from = `queue "${queue}" from ${nameOf(job)}`;
      counts.set(from, (counts.get(from) ?? 0) + 1);
    }
    // A line for each who fell silent, not for each of its jobs.
    for (const [from, jobs] of counts) logger.warn(`Rescued ${jobs} job(s) of ${from}.`);
  }
}

function nameOf({ workerId, owner }: Silent): string {
  if (owner === null) return `worker ${workerId}, which fell silent`;
  return `${owner === '' ? 'whoever had the token' : `owner "${owner}"`}, whose lease ended`;
}
