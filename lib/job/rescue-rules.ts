import type { ClaimedJob } from './job.js';
import { afterSilence, type Outcome, type Silent } from './outcome.js';
import type { ResolvedQueueOptions } from './queue-options.js';

type Silenced = ClaimedJob & Silent & { readonly mayHaveBegun: boolean };

/** What becomes of jobs whose holders fell silent, as the options of their queues say. */
export function rescueRules(
  optionsFor: (queue: string) => Pick<ResolvedQueueOptions, 'retry' | 'retention'>,
  random: () => number,
) {
  return {
    decide: (job: Silenced): Outcome => afterSilence(job, job, job.mayHaveBegun, optionsFor(job.queue).retry, random),
    keepMs: (queue: string): number | false => optionsFor(queue).retention.deadMs,
  };
}
