import type { ClaimedJob } from './job.js';
import { afterSilence, type Outcome } from './outcome.js';
import type { ResolvedQueueOptions } from './queue-options.js';

type Silenced = ClaimedJob & { readonly workerId: string; readonly mayHaveBegun: boolean };

/** What becomes of jobs whose holders fell silent, as the options of their queues say. */
export function rescueRules(
  optionsFor: (queue: string) => Pick<ResolvedQueueOptions, 'retry' | 'retention'>,
  random: () => number,
) {
  return {
    decide: (job: Silenced): Outcome =>
      afterSilence(job, job.workerId, job.mayHaveBegun, optionsFor(job.queue).retry, random),
    keepMs: (queue: string): number | false => optionsFor(queue).retention.deadMs,
  };
}
