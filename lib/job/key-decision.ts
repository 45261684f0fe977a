import type { JobKey, KeyConflict } from './job-key.js';

/** The last job that took a key. */
export interface KeyHolder {
  readonly until: JobKey['until'];
  /** Its time is not over; false where it holds the key until something happens. */
  readonly hasTime: boolean;
  /** Undefined where it is finished. */
  readonly job: HoldingJob | undefined;
}

export interface HoldingJob {
  /** Nobody has claimed it: it waits, or is scheduled. */
  readonly isIdle: boolean;
  /** Runs begun so far. */
  readonly attempt: number;
}

/** `refuse`: no job is put in, and the caller is told. */
export type KeyDecision = 'put' | 'join' | 'replace' | 'refuse';

/** Nobody releases a key: whether it is held follows from the job, whoever ended or removed it. */
export function isHeld({ until, hasTime, job }: KeyHolder): boolean {
  if (until === 'time') return hasTime;
  return job !== undefined && (until === 'finished' || (job.isIdle && job.attempt === 0));
}

/** What becomes of a job that wants a key. */
export function decideKey(holder: KeyHolder, onConflict: KeyConflict): KeyDecision {
  if (!isHeld(holder)) return 'put';
  if (onConflict === 'return' || onConflict === 'coalesce') return 'join';
  return onConflict === 'replace' && holder.job?.isIdle ? 'replace' : 'refuse';
}
