import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { InvalidOptionsError } from './errors.js';
import { expected, isOptions, unknownKeys } from './expectation.js';

/** How long, and how, a job is waited for. */
export interface WaitOptions {
  /** Rejects with WaitTimeoutError after this long. Default: waits until the job has ended. */
  timeout?: Duration;
  /** Ends the waiting, not the job; rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Told what `job.progress()` was given: the last value of a look, in order, never one twice in a row. */
  onProgress?: (value: unknown) => void | Promise<void>;
}

export interface ResolvedWaitOptions {
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: WaitOptions['onProgress'];
}

const KNOWN = ['timeout', 'signal', 'onProgress'];

/** Checks them; all problems in one InvalidOptionsError. */
export function resolveWaitOptions(where: string, given: WaitOptions): ResolvedWaitOptions {
  if (!isOptions(given)) throw new InvalidOptionsError(where, [expected(false, 'options to be an object', given)!]);
  const { timeout, signal, onProgress } = given;
  InvalidOptionsError.throwIfAny(where, [
    ...unknownKeys(given, KNOWN),
    expected(timeout === undefined || (toMs(timeout) ?? 0) > 0, `timeout to be ${DURATION_EXPECTED} above 0`, timeout),
    expected(signal === undefined || isSignal(signal), 'signal to be an AbortSignal', typeof signal),
    expected(onProgress === undefined || typeof onProgress === 'function', 'onProgress to be a function', onProgress),
  ]);
  return { timeoutMs: timeout === undefined ? undefined : toMs(timeout)!, signal, onProgress };
}

function isSignal(value: unknown): boolean {
  return typeof (value as Partial<AbortSignal> | null)?.addEventListener === 'function';
}
