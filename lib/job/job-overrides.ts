import type { Duration } from '../common/units.js';
import type { BackoffOptions } from './backoff-options.js';
import type { ResolvedRetention } from './retention-options.js';
import type { StoredTick } from './schedules/job-schedule.js';

/** The overrides of a job, as its row stores them. */
export interface JobOverrides {
  backoff?: Duration | BackoffOptions;
  timeoutMs?: number;
  /** Counts from the creation of the job. */
  expiresInMs?: number;
  /** The part of `expiresInMs` that a job has beyond its option, because its payload has replaced an earlier one. */
  addedExpiryMs?: number;
  leaseMs?: number;
  retention?: Partial<ResolvedRetention>;
  /** The job belongs to a request, which alone reads its result. */
  reply?: true;
  key?: string;
  /** A number is a duration in milliseconds. */
  keyUntil?: 'started' | 'finished' | number;
  /** The tick that has enqueued the job. */
  schedule?: StoredTick;
  /** The flow of the job: others wait for its end, or the flow itself. */
  flow?: number;
  /** Of a job of a flow: its delay after the end of the jobs that it waits for, or the earliest time of its run. */
  delayMs?: number;
  runAtMs?: number;
  /** The subject of `QueueAdmin.erase`. */
  subject?: string;
  /** A part of the keys of its steps: the job has started anew under its id. */
  restart?: number;
  /** Only in the history. The row of a job that is not finished has a column for it. */
  group?: string;
}
