import { withDecoder } from './failed-job.js';
import type { ClaimedJob } from './job.js';
import { outcomeAfterExpiredLease, type Outcome, type ExpiredLease } from './outcome.js';
import type { ResolvedQueueOptions } from './queue-options.js';
import type { MaybePromise, RuleParts } from './user-rule.js';

type RescuableJob = ClaimedJob & ExpiredLease & { readonly mayHaveStarted: boolean };

export function rescueRules(
  optionsFor: (queue: string) => Pick<ResolvedQueueOptions, 'retry' | 'retention' | 'codec'>,
  parts: RuleParts,
) {
  return {
    decide: (job: RescuableJob): MaybePromise<Outcome> => {
      const { retry, codec } = optionsFor(job.queue);
      return outcomeAfterExpiredLease(job, job, job.mayHaveStarted, retry, withDecoder(parts, codec));
    },
    retentionMs: (queue: string): number | false => optionsFor(queue).retention.deadMs,
  };
}
