import type { ClaimedJob } from '../../job/job.js';
import type { Completion } from '../rows/completion.js';

/** The end of a job that no claim has and of which no record stays. For the other jobs of its flow it is cancelled. */
export interface Removal extends Pick<Completion, 'isStaged'> {
  readonly isRemoval: true;
  readonly job: Pick<ClaimedJob, 'id' | 'queue' | 'overrides'>;
  readonly claimId: 0;
  readonly outcome: { readonly kind: 'cancel' };
}

export type JobEnd = Completion | Removal;

export function isCompletion(end: JobEnd): end is Completion {
  return !('isRemoval' in end);
}
