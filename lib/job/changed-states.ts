import { JOB_STATES, type JobState } from './job-state.js';

/** A verb that changes the jobs of a selection. */
export type BulkVerb = 'retry' | 'promote' | 'cancel' | 'remove';

/** The states of the jobs that each verb changes without further options. */
export const CHANGED_STATES: Readonly<Record<BulkVerb, readonly JobState[]>> = {
  retry: ['scheduled', 'dead', 'cancelled'],
  promote: ['scheduled'],
  cancel: ['scheduled', 'waiting', 'blocked', 'active'],
  remove: JOB_STATES.filter((state) => state !== 'active'),
};

/**
 * The states of the jobs that the verb changes: it leaves all others as they are.
 *
 * @param retry `isReplay`: at a rate, into another queue, or of completed jobs, so that only finished jobs start anew
 */
export function changedStates(
  verb: BulkVerb,
  retry: { readonly isReplay?: boolean; readonly completed?: boolean } = {},
): readonly JobState[] {
  if (verb !== 'retry' || !retry.isReplay) return CHANGED_STATES[verb];
  return retry.completed ? ['completed', 'dead', 'cancelled'] : ['dead', 'cancelled'];
}
