import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions } from '../job/expectation.js';
import { nameProblem } from '../job/identifiers.js';
import { ASSIGNMENT_LEASE, DEFAULT_ASSIGNMENT_LEASE } from '../job/lease.js';
import { either, flag, option, optionProblems, resolveOptions, whole, type SchemaOf } from '../job/option-schema.js';
import type { Duration } from '../common/units.js';
import { OWNER, STAGE } from './claim-holder.js';

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

export type ResolvedClaimOptions = ReturnType<typeof resolveClaimOptions>;

const CLAIM_OPTIONS = {
  owner: option(OWNER),
  limit: option(whole(1, 100), 1),
  lease: option(either('until-released', ASSIGNMENT_LEASE), DEFAULT_ASSIGNMENT_LEASE),
  stage: option(STAGE),
} satisfies SchemaOf<ClaimOptions>;

/** `owner` is '' for none, and `leaseMs` null for a job that is held until released. Throws with all problems. */
export function resolveClaimOptions(queue: unknown, given: ClaimOptions = {}) {
  InvalidOptionsError.throwIfAny('Cannot claim', [
    nameProblem('queue name', queue),
    ...optionProblems(CLAIM_OPTIONS, given),
    isOptions(given) ? missingOwnerProblem(given) : undefined,
  ]);
  const { owner = '', limit, lease, stage = null } = resolveOptions(CLAIM_OPTIONS, given);
  return { owner, limit, leaseMs: lease === 'until-released' ? null : lease, stage };
}

// Without an owner and an expiry, a job whose token is lost could not be found again.
function missingOwnerProblem({ owner, lease }: ClaimOptions): string | undefined {
  const isMissing = lease === 'until-released' && owner === undefined;
  return expected(!isMissing, `an owner beside lease 'until-released'`, 'none');
}

export interface AssignOptions {
  /** Whether to take the job from another claim holder. Default true. */
  reassign?: boolean;
}

export const ASSIGN_OPTIONS = { reassign: option(flag, true) } satisfies SchemaOf<AssignOptions>;
