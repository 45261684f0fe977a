import { withDecoder } from './failed-job.js';
import { outcomeAfterExpiredLease, type Outcome, type ExpiredLeaseJob } from './outcome.js';
import type { ResolvedQueueOptions } from './queue-options.js';
import type { MaybePromise, RuleParts } from './user-rule.js';

export function rescueRules(
  optionsFor: (queue: string) => Pick<ResolvedQueueOptions, 'retry' | 'retention' | 'codec'>,
  parts: RuleParts,
) {
  return {
    decide: (job: ExpiredLeaseJob): MaybePromise<Outcome> => {
      const { retry, codec } = optionsFor(job.queue);
      return outcomeAfterExpiredLease(job, job, job.mayHaveStarted, retry, withDecoder(parts, codec));
    },
    retentionMs: (queue: string): number | false => optionsFor(queue).retention.deadMs,
  };
}
