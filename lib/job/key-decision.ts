import { mayReplace, type JobKey, type KeyConflict } from './job-key.js';

/** The last job that owned a key, as its key row stores it. */
export interface KeyOwner {
  readonly until: JobKey['until'];
  /** The duration of a key with `until: 'time'` is not over. Always false for other keys. */
  readonly hasTime: boolean;
  /** Undefined if the job is finished or removed. */
  readonly job: KeyOwnerJob | undefined;
}

export interface KeyOwnerJob {
  /** The job is waiting or scheduled. */
  readonly isUnclaimed: boolean;
  /** Runs started so far. */
  readonly attempt: number;
}

/** `put`: store the job. `join`: return the owner. `replace`: store it in place of the owner. `refuse`: throw. */
export type KeyDecision = 'put' | 'join' | 'replace' | 'refuse';

/** This follows from the state of the job, so no statement has to free a key. */
export function isKeyTaken({ until, hasTime, job }: KeyOwner): boolean {
  if (until === 'time') return hasTime;
  return job !== undefined && (until === 'finished' || (job.isUnclaimed && job.attempt === 0));
}

export function decideKey(owner: KeyOwner, onConflict: KeyConflict): KeyDecision {
  if (!isKeyTaken(owner)) return 'put';
  if (onConflict === 'return' || onConflict === 'coalesce') return 'join';
  if (mayReplace({ onConflict }) && owner.job?.isUnclaimed) return 'replace';
  return onConflict === 'after' ? 'put' : 'refuse';
}
