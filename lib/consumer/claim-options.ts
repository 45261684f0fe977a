import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, isWhole, unknownKeys } from '../job/expectation.js';
import { nameProblem } from '../job/job-names.js';
import { DEFAULT_HOLD, leaseProblem } from '../job/lease.js';
import { toMs, type Duration } from '../time/duration.js';
import { nameOf, ownerProblem } from './holder.js';

export interface ClaimOptions {
  /** Whom the jobs are assigned to: a person, a team, a program. Without one they belong to whoever has their tokens. */
  owner?: string;
  /** At most so many jobs, 1 to 100. Default 1. */
  limit?: number;
  /**
   * How long they are theirs without a word: 1s to 100 years, or `until-released`, which needs an owner. Default 15m. When it
   * lapses, the attempt has failed and the job is tried again.
   */
  lease?: Duration | 'until-released';
  /** Takes jobs that wait in this stage. Default: those that stand in none. */
  stage?: string;
}

export interface ResolvedClaimOptions {
  readonly owner: string;
  readonly limit: number;
  readonly leaseMs: number | null;
  readonly stage: string | null;
}

/** Checked, all problems in one InvalidOptionsError. */
export function resolveClaimOptions(queue: unknown, given: ClaimOptions = {}): ResolvedClaimOptions {
  const { owner, limit = 1, lease = DEFAULT_HOLD, stage } = isOptions(given) ? given : ({} as ClaimOptions);
  InvalidOptionsError.throwIfAny('Cannot claim', [
    nameProblem('queue name', queue),
    ...unknownKeys(given, ['owner', 'limit', 'lease', 'stage']),
    owner === undefined ? undefined : ownerProblem(owner),
    expected(isWhole(limit, 1, 100), 'limit to be a whole number from 1 to 100', limit),
    lease === 'until-released' ? withOwner(owner) : leaseProblem(lease),
    stage === undefined ? undefined : stageProblem(stage),
  ]);
  return { owner: owner ?? '', limit, leaseMs: lease === 'until-released' ? null : toMs(lease)!, stage: stage ?? null };
}

export function stageProblem(stage: unknown): string | undefined {
  return nameOf('stage', stage, 100);
}

// Nobody could find the job again whose token is forgotten.
function withOwner(owner: unknown): string | undefined {
  return owner === undefined ? expected(false, `an owner beside lease 'until-released'`, 'none') : undefined;
}
