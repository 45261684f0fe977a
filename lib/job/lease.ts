import { toMs, type Duration } from '../common/duration.js';
import { expected } from './expectation.js';
import type { ClaimedJob } from './job.js';
import { durationOf } from './option-schema.js';

/** The lease of the claim of a worker. */
export const LEASE = durationOf(`a duration from '1s' to '1d'`, 1_000, 86_400_000);

/** The default lease of a job that a person or another program holds. */
export const DEFAULT_ASSIGNMENT_LEASE: Duration = '15m';

/** For the lease of an assigned job. */
export function leaseProblem(lease: unknown): string | undefined {
  return expected((toMs(lease) ?? 0) >= 1_000, `lease to be a duration of 1s or more`, lease);
}

/** The lease of a claim: the longest of those of its queue and its jobs. */
export function claimLeaseMs(queueLeaseMs: number, jobs: readonly Pick<ClaimedJob, 'overrides'>[]): number {
  let longestMs = queueLeaseMs;
  for (const { overrides } of jobs) {
    if (overrides?.leaseMs !== undefined && overrides.leaseMs > longestMs) longestMs = overrides.leaseMs;
  }
  return longestMs;
}
