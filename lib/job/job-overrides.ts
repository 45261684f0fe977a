import type { Duration } from '../common/units.js';
import type { BackoffOptions } from './backoff-options.js';
import type { ResolvedRetention } from './retention-options.js';
import type { StoredTick } from './schedules/job-schedule.js';

/** The overrides of a job, as its row stores them. */
export interface JobOverrides {
  backoff?: Duration | BackoffOptions;
  timeoutMs?: number;
  expiresInMs?: number;
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

/** The lease of a claim: the longest of those of its queue and its jobs. */
export function claimLeaseMs(
  queueLeaseMs: number,
  jobs: readonly { readonly overrides: JobOverrides | null }[],
): number {
  let longestMs = queueLeaseMs;
  for (const { overrides } of jobs) {
    if (overrides?.leaseMs !== undefined && overrides.leaseMs > longestMs) longestMs = overrides.leaseMs;
  }
  return longestMs;
}

// The caller of a request reads the result and deletes it. If the caller has died, the pruner deletes it.
const REPLY_RETENTION_MS = 60_000;
// Callers that received the job of another caller may still read its outcome.
const MIN_KEYED_RETENTION_MS = 600_000;

/**
 * How long the history keeps the job; false: it does not. A job with a key stays for ten minutes more than it owns the
 * key, or longer.
 */
export function jobRetentionMs(
  overrides: JobOverrides | null,
  isCompleted: boolean,
  queueRetentionMs: number | false,
): number | false {
  if (overrides === null) return queueRetentionMs;
  if (overrides.reply) return REPLY_RETENTION_MS;
  const { completedMs = queueRetentionMs, deadMs = queueRetentionMs } = overrides.retention ?? {};
  const retentionMs = isCompleted ? completedMs : deadMs;
  if (overrides.key === undefined) return retentionMs;
  const ownedMs = typeof overrides.keyUntil === 'number' ? overrides.keyUntil : 0;
  return Math.max(retentionMs || 0, ownedMs + MIN_KEYED_RETENTION_MS);
}
