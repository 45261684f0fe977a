import type { ClaimedJob } from '../job/job.js';
import type { Outcome } from '../job/outcome.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { RuleParts } from '../job/user-rule.js';
import type { JobStore, PromotedJob } from '../store/verbs/job-store.js';
import type { ConsumerStore } from '../store/features/people/consumer-store.js';
import type { Clock } from '../common/clock.js';

export interface ConsumerParts extends RuleParts {
  readonly clock: RuleParts['clock'] & Pick<Clock, 'now'>;
  readonly store: ConsumerStore;
  readonly jobs: Pick<JobStore, 'claim' | 'chooseStrategies' | 'summarizeWork' | 'promote' | 'afterCommit'>;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** `owner` is '' if the jobs were claimed without an owner. */
  readonly claimed: (jobs: readonly ClaimedJob[], owner: string) => void;
  /** These emit events and notify workers of this and other processes. */
  readonly promoted: (jobs: readonly PromotedJob[]) => void;
  /** Rescues jobs whose leases have expired, and returns their number. */
  readonly rescue: () => Promise<number>;
  /** Called after an outcome has committed. `heldMs` is null if the owner keeps the job. */
  readonly ended: (job: ClaimedJob, outcome: Outcome, result: unknown, heldMs: number | null, owner: string) => void;
}
