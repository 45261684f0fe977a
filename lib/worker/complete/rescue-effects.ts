import { isFinalOutcome, expiredLeaseError, type ExpiredLease } from '../../job/outcome.js';
import { storedError } from '../../job/stored-error.js';
import type { RescuedJob } from '../../store/jobs/job-store.js';
import type { WaitNotifier } from '../../listen/wait-notifier.js';
import type { Instrumentations } from '../../metrics/instrumentations.js';
import type { FlowSettler } from './flow-settler.js';
import type { FailureLog } from './failure-log.js';
import type { JobLogger, LogParams } from '../../common/job-logger.js';
import type { QueueEvents } from '../../events/queue-events.js';

export interface RescueEffectsParts {
  readonly events: QueueEvents;
  readonly waitNotifier: WaitNotifier;
  readonly logger: JobLogger;
  readonly failureLog: Pick<FailureLog, 'logFailure'>;
  readonly instrumentations: Pick<Instrumentations, 'rescued'>;
  readonly flowSettler: Pick<FlowSettler, 'settle'>;
  readonly announce: (queue: string, jobs: number) => void;
  readonly expectDue: (queue: string, ms: number) => void;
}

/** Emits events, logs and notifies after this process has rescued jobs. */
export class RescueEffects {
  constructor(private readonly parts: RescueEffectsParts) {}

  onRescued(rescued: readonly RescuedJob[]): void {
    const { events, waitNotifier, logger, failureLog, instrumentations, announce, expectDue } = this.parts;
    const counts = new Map<string, { jobs: number; params: LogParams }>();
    for (const { job, outcome, deadLetter } of rescued) {
      const { id: jobId, queue, name, attempt, owner } = job;
      const error = storedError(expiredLeaseError(job));
      const eventFields = { jobId, queue, name, attempt, owner: owner || null, ranMs: null, error };
      const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
      events.emit({ ...eventFields, event: 'rescued', delayMs });
      instrumentations.rescued(job, outcome);
      if (isFinalOutcome(outcome)) waitNotifier.notifyEnded(job);
      if (outcome.kind === 'cancel') events.emit({ ...eventFields, event: 'cancelled', error: undefined });
      if (outcome.kind === 'dead') {
        events.emit({ ...eventFields, event: 'dead' });
        failureLog.logFailure(job, outcome, job.workerId);
        if (deadLetter) announce(deadLetter, 1);
      } else if (delayMs > 0) expectDue(queue, delayMs);
      else if (outcome.kind !== 'cancel') announce(queue, 1);
      const source = `queue "${queue}" from ${describeLeaseHolder(job)}`;
      const { jobs = 0 } = counts.get(source) ?? {};
      counts.set(source, { jobs: jobs + 1, params: { queue, ...(job.owner === null && { workerId: job.workerId }) } });
    }
    const ended = rescued.filter(({ job, outcome }) => job.overrides?.flow !== undefined && isFinalOutcome(outcome));
    if (ended.length > 0) void this.parts.flowSettler.settle(ended.map(({ job }) => job.id));
    for (const [from, { jobs, params }] of counts) logger.warn(`Rescued ${jobs} job(s) of ${from}.`, params);
  }
}

function describeLeaseHolder({ workerId, owner }: ExpiredLease): string {
  if (owner === null) return `worker ${workerId}, whose lease expired`;
  return `${owner === '' ? 'the bearer of a token' : `owner "${owner}"`}, whose lease expired`;
}
