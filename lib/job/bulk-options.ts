import { InvalidOptionsError } from './errors.js';
import {
  abortSignal,
  flag,
  func,
  option,
  optionProblems,
  resolveOptions,
  whole,
  type Resolved,
  type SchemaOf,
} from './option-schema.js';
import { requireOptions } from './expectation.js';

/** Options of an action on several jobs. */
export interface BulkOptions {
  /** Changes nothing: resolves with the number of jobs that the action would change now. Default false. */
  dryRun?: boolean;
  /** The largest number of jobs to change, 1 or more. Default: no limit. */
  limit?: number;
  /** Called after each batch of up to 500 jobs with the number of jobs changed so far. */
  onProgress?: (changed: number) => void;
  /** Ends the action before the next batch: the call rejects with the reason. Jobs that were changed stay changed. */
  signal?: AbortSignal;
}

export type ResolvedBulk = Resolved<typeof BULK_OPTIONS>;

export const BULK_OPTIONS = {
  dryRun: option(flag, false),
  limit: option(whole(1, Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER),
  onProgress: option(func<(changed: number) => void>()),
  signal: option(abortSignal),
} satisfies SchemaOf<BulkOptions>;

/** @param also options that the caller has taken out, so that a misspelt name finds them */
export function resolveBulk(where: string, given: BulkOptions, also?: readonly string[]): ResolvedBulk {
  InvalidOptionsError.throwIfAny(where, optionProblems(BULK_OPTIONS, requireOptions(where, given), { also }));
  return resolveOptions(BULK_OPTIONS, given);
}
