import { groupBy } from '../../common/group-by.js';
import { isFinalOutcome, expiredLeaseError } from '../../job/outcome.js';
import { storedError } from '../../job/stored-error.js';
import type { RescuedJob } from '../../store/jobs/job-store.js';
import type { LogParams } from '../../common/job-logger.js';
import type { WorkerParts } from '../worker-parts.js';
import { logFailure } from './failure-log.js';

export interface RescueEffectsParts extends Pick<
  WorkerParts,
  'events' | 'waitNotifier' | 'logger' | 'optionsFor' | 'instrumentations' | 'flowSettler'
> {
  readonly announce: (queue: string, jobs: number) => void;
  readonly expectDue: (queue: string, ms: number) => void;
}

/** Emits events, logs and notifies after this process has rescued jobs. */
export class RescueEffects {
  constructor(private readonly parts: RescueEffectsParts) {}

  onRescued(rescued: readonly RescuedJob[]): void {
    const { events, waitNotifier, logger, instrumentations, announce, expectDue } = this.parts;
    for (const { job, outcome, deadLetter } of rescued) {
      const { id: jobId, queue, name, attempt, owner } = job;
      const error = storedError(expiredLeaseError(job));
      const eventFields = { jobId, queue, name, attempt, owner: owner || null, ranMs: null, error };
      const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
      events.deliver({ ...eventFields, event: 'rescued', delayMs });
      instrumentations.rescued(job, outcome);
      if (isFinalOutcome(outcome)) waitNotifier.notifyEnded(job);
      if (outcome.kind === 'cancel') events.deliver({ ...eventFields, event: 'cancelled', error: undefined });
      if (outcome.kind === 'dead') {
        events.deliver({ ...eventFields, event: 'dead' });
        logFailure(job, outcome, { ...this.parts, workerId: job.workerId });
        if (deadLetter) announce(deadLetter, 1);
      } else if (delayMs > 0) expectDue(queue, delayMs);
      else if (outcome.kind !== 'cancel') announce(queue, 1);
    }
    const ended = rescued.filter(({ job, outcome }) => job.overrides?.flow !== undefined && isFinalOutcome(outcome));
    if (ended.length > 0) void this.parts.flowSettler.settle(ended.map(({ job }) => job.id));
    for (const [source, jobs] of groupBy(rescued, ({ job }) => describeSource(job)))
      logger.warn(`Rescued ${jobs.length} job(s) of ${source}.`, paramsOf(jobs[0]!.job));
  }
}

function describeSource({ queue, workerId, owner }: RescuedJob['job']): string {
  const holder = owner === '' ? 'the bearer of a token' : `owner "${owner}"`;
  return `queue "${queue}" from ${owner === null ? `worker ${workerId}` : holder}, whose lease expired`;
}

function paramsOf({ queue, workerId, owner }: RescuedJob['job']): LogParams {
  return owner === null ? { queue, workerId } : { queue };
}
