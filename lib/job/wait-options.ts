import type { Duration } from '../common/units.js';
import { abortSignal, checkAndResolve, func, option, positiveDuration, type SchemaOf } from './option-schema.js';

/** How long to wait for a job, and how to follow it. */
export interface WaitOptions {
  /** Rejects with WaitTimeoutError after this time, above 0. Default: no limit. */
  timeout?: Duration;
  /** Ends the wait, not the job. The wait rejects with the reason of the signal. */
  signal?: AbortSignal;
  /**
   * Receives the values of `job.progress()` in order. Each poll reports the last value only, and never the same value
   * twice in a row.
   */
  onProgress?: (value: unknown) => void | Promise<void>;
}

export type ResolvedWaitOptions = ReturnType<typeof resolveWaitOptions>;

const WAIT_OPTIONS = {
  timeout: option(positiveDuration),
  signal: option(abortSignal),
  onProgress: option(func<NonNullable<WaitOptions['onProgress']>>()),
} satisfies SchemaOf<WaitOptions>;

export function resolveWaitOptions(where: string, given: WaitOptions) {
  const { timeout: timeoutMs, ...others } = checkAndResolve(where, WAIT_OPTIONS, given);
  return { timeoutMs, ...others };
}
