import { toMs, type Duration } from '../common/duration.js';
import { expected } from './expectation.js';

/** The default lease of a job that a person or another program holds. */
export const DEFAULT_ASSIGNMENT_LEASE: Duration = '15m';

/** For the lease of an assigned job. */
export function leaseProblem(lease: unknown): string | undefined {
  return expected((toMs(lease) ?? 0) >= 1_000, `lease to be a duration of 1s or more`, lease);
}
