import type { ClaimedJob } from './job.js';
import { afterSilence, type Outcome, type Silent } from './outcome.js';
import type { ResolvedQueueOptions } from './queue-options.js';
import type { MaybeLater, RuleParts } from './user-rule.js';

type Silenced = ClaimedJob & Silent & { readonly mayHaveBegun: boolean };

/** What becomes of jobs whose holders fell silent, as the options of their queues say. */
export function rescueRules(
  optionsFor: (queue: string) => Pick<ResolvedQueueOptions, 'retry' | 'retention'>,
  parts: RuleParts,
) {
  return {
    decide: (job: Silenced): MaybeLater<Outcome> =>
      afterSilence(job, job, job.mayHaveBegun, optionsFor(job.queue).retry, parts),
    keepMs: (queue: string): number | false => optionsFor(queue).retention.deadMs,
  };
}
