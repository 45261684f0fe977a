import { expected, isOptions } from './expectation.js';

/**
 * Carries values of an AsyncLocalStorage, for example the tenant of a request, from the caller that enqueues a job to its
 * handler. They travel in the headers of the job.
 *
 * Unlike an instrumentation it is part of the work: if `capture` throws, the call rejects; if `run` throws, the attempt
 * fails.
 */
export interface ContextPropagation {
  /**
   * Called once by each call that enqueues. Returns the headers to add to its jobs: texts, or undefined for none. Headers
   * of the call itself, and those of `jobDefaults`, win. All headers of a job together may have 16 KiB.
   */
  capture(): Record<string, string | undefined>;
  /**
   * Called around each handler. Calls `next` once, synchronously, and returns its value.
   *
   * @param headers those of the job; for a batch, the headers that all its jobs have in common
   */
  run<T>(headers: Readonly<Record<string, string>>, next: () => T): T;
}

export function contextProblems(given: unknown): (string | undefined)[] {
  if (!isOptions(given)) return [expected(false, 'context to be { capture, run }', given)];
  const { capture, run } = given as Partial<ContextPropagation>;
  return [
    expected(typeof capture === 'function', 'context.capture to be a function', capture),
    expected(typeof run === 'function', 'context.run to be a function', run),
  ];
}
