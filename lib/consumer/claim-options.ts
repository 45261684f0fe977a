import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, isWhole, unknownKeys } from '../job/expectation.js';
import { nameProblem } from '../job/job-names.js';
import { DEFAULT_ASSIGNMENT_LEASE, leaseProblem } from '../job/lease.js';
import { toMs, type Duration } from '../common/duration.js';
import { labelProblem, ownerProblem } from './claim-holder.js';

export interface ClaimOptions {
  /**
   * The person, team or program that the jobs are assigned to: a text of 1 to 255 characters. Default: none. The bearer
   * of the token of a job then holds it.
   */
  owner?: string;
  /** The maximum number of jobs, 1 to 100. Default 1. */
  limit?: number;
  /**
   * The time until the assignment ends unless it is extended: 1s to 100 years, or `until-released`, which requires an
   * owner. Default 15m. When the lease expires, the attempt has failed and the job is retried.
   */
  lease?: Duration | 'until-released';
  /** Claims jobs of this stage: a text of 1 to 100 characters. Default: jobs that are in no stage. */
  stage?: string;
}

export interface ResolvedClaimOptions {
  /** '' for none. */
  readonly owner: string;
  readonly limit: number;
  /** Null: until released. */
  readonly leaseMs: number | null;
  readonly stage: string | null;
}

/** Throws InvalidOptionsError with all problems. */
export function resolveClaimOptions(queue: unknown, given: ClaimOptions = {}): ResolvedClaimOptions {
  const { owner, limit = 1, lease = DEFAULT_ASSIGNMENT_LEASE, stage } = isOptions(given) ? given : ({} as ClaimOptions);
  InvalidOptionsError.throwIfAny('Cannot claim', [
    nameProblem('queue name', queue),
    ...unknownKeys(given, ['owner', 'limit', 'lease', 'stage']),
    owner === undefined ? undefined : ownerProblem(owner),
    expected(isWhole(limit, 1, 100), 'limit to be a whole number from 1 to 100', limit),
    lease === 'until-released' ? missingOwnerProblem(owner) : leaseProblem(lease),
    stage === undefined ? undefined : stageProblem(stage),
  ]);
  return { owner: owner ?? '', limit, leaseMs: lease === 'until-released' ? null : toMs(lease)!, stage: stage ?? null };
}

export function stageProblem(stage: unknown): string | undefined {
  return labelProblem('stage', stage, 100);
}

// Without an owner and an expiry, a job whose token is lost could not be found again.
function missingOwnerProblem(owner: unknown): string | undefined {
  return owner === undefined ? expected(false, `an owner beside lease 'until-released'`, 'none') : undefined;
}
