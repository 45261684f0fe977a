import { groupBy } from '../../common/lists.js';
import { expiredLeaseError, outcomeAfterExpiredLease } from '../../job/outcome.js';
import { storedError } from '../../job/stored-error.js';
import type { JobStore, RescuedJob, RescueRules } from '../../store/verbs/job-store.js';
import type { WorkerLockStore } from '../../store/verbs/worker-lock-store.js';
import type { LogParams } from '../../common/logger.js';
import type { OwnWork } from '../../job/own-work.js';
import type { WorkerParts } from '../worker-parts.js';
import { followOutcome, logFailure, type OutcomeFollowers } from './outcome-effects.js';

export interface RescuerParts
  extends
    OutcomeFollowers,
    Pick<WorkerParts, 'events' | 'logger' | 'optionsFor' | 'instrumentations' | 'random' | 'clock'> {
  readonly ownWork: OwnWork;
}

/**
 * Rescues jobs by the options of their queues, emits events, logs and notifies. A process never rescues its own claims or
 * running jobs: it renews the lease, or the run ends.
 */
export class Rescuer {
  readonly #rules: RescueRules;

  constructor(private readonly parts: RescuerParts) {
    this.#rules = rescueRules(parts);
  }

  /** Returns the number of rescued jobs. */
  async rescue(store: Pick<JobStore | WorkerLockStore, 'rescue'>): Promise<number> {
    const rescued = await store.rescue(this.#rules, (jobs) => this.#onRescued(jobs));
    for (const [source, jobs] of groupBy(rescued, ({ job }) => describeSource(job)))
      this.parts.logger.warn(`Rescued ${jobs.length} job(s) of ${source}.`, paramsOf(jobs[0]!.job));
    return rescued.length;
  }

  #onRescued(rescued: readonly RescuedJob[]): void {
    const { events, instrumentations } = this.parts;
    for (const { job, outcome, deadLetter } of rescued) {
      const { id: jobId, queue, name, attempt, owner } = job;
      const error = storedError(expiredLeaseError(job));
      const eventFields = { jobId, queue, name, attempt, owner: owner || null, ranMs: null, error };
      events.deliver({ ...eventFields, event: 'rescued', delayMs: outcome.kind === 'retry' ? outcome.delayMs : 0 });
      instrumentations.rescued(job, outcome);
      if (outcome.kind === 'cancel') events.deliver({ ...eventFields, event: 'cancelled', error: undefined });
      if (outcome.kind === 'dead') {
        events.deliver({ ...eventFields, event: 'dead' });
        logFailure(job, outcome, { ...this.parts, workerId: job.workerId });
      }
      void followOutcome(job, outcome, deadLetter, this.parts);
    }
  }
}

function rescueRules(parts: Pick<RescuerParts, 'optionsFor' | 'random' | 'clock' | 'logger' | 'ownWork'>): RescueRules {
  return {
    ...parts.ownWork,
    decide: (job) => {
      const { retry, codec } = parts.optionsFor(job.queue);
      return outcomeAfterExpiredLease(job, job, job.mayHaveStarted, retry, { ...parts, codec });
    },
    retentionMs: (queue) => parts.optionsFor(queue).retention.deadMs,
  };
}

function describeSource({ queue, workerId, owner }: RescuedJob['job']): string {
  const holder = owner === '' ? 'the bearer of a token' : `owner "${owner}"`;
  return `queue "${queue}" from ${owner === null ? `worker ${workerId}` : holder}, whose lease expired`;
}

function paramsOf({ queue, workerId, owner }: RescuedJob['job']): LogParams {
  return owner === null ? { queue, workerId } : { queue };
}
