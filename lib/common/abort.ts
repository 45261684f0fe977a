import { defaultMaxListeners, getMaxListeners, setMaxListeners } from 'node:events';
import type { Clock } from './clock.js';

/**
 * The reason of an abort that only ends a wait. Without a reason, AbortController creates an error with its stack, which
 * takes longer than the rest of the abort.
 */
export const ENDED = 'ended';

/** An AbortController whose signal many calls may listen to at once. Node 20 warns of a leak from the eleventh listener on. */
export function sharedAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** The same for the signal of a caller, unless the caller has set a limit, or the signal comes from a polyfill. */
export function allowManyListeners(signal: AbortSignal): void {
  if (signal instanceof EventTarget && !hasOwnLimit(signal)) setMaxListeners(0, signal);
}

function hasOwnLimit(signal: AbortSignal): boolean {
  try {
    return getMaxListeners(signal) !== defaultMaxListeners;
  } catch {
    // Node 20 rejects signals that have no limit yet, or the limit 0.
    return false;
  }
}

/**
 * Aborts the controller when the signal is aborted, until the returned function is called. AbortSignal.any() would
 * leave a reference at the signal for each call, for as long as the signal lives.
 */
export function abortWith(signal: AbortSignal, controller: AbortController): () => void {
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}

/** The value of the work; rejects with `late()` if it does not end within `ms`. */
export async function answerWithin<T>(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: Promise<T>,
  late: () => Error,
): Promise<T> {
  if (!(await withTimeout(clock, ms, work))) throw late();
  return work;
}

/**
 * Resolves with true when the work ends within `ms` and before `stop`, else with false. Late work goes on, and its
 * outcome is ignored.
 */
export async function withTimeout(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: PromiseLike<unknown>,
  stop?: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const unlink = stop && abortWith(stop, over);
  const late = clock.sleep(ms, over.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    unlink?.();
    over.abort(ENDED);
  }
}
