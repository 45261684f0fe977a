import { AsyncResource } from 'node:async_hooks';

// Created while this file loads, so it has no values of a request.
const root = new AsyncResource('SqlQueueRoot');

/**
 * Calls `act` outside of the async context of the caller. Work that several callers share, or that outlives its caller, begins
 * here: otherwise it would see the AsyncLocalStorage of the request that happened to start it, and join its transaction.
 *
 * Each call has a resource of its own, so that `enterWith` in `act` changes no later call.
 */
export function inRootContext<T>(act: () => T): T {
  return root.runInAsyncScope(() => new AsyncResource('SqlQueue')).runInAsyncScope(act);
}

/** The function of a caller that shared work calls later: it runs in the async context of its caller. */
export function inPresentContext<Args extends unknown[], Result>(
  act: (...args: Args) => Result,
): (...args: Args) => Result {
  const resource = new AsyncResource('SqlQueueCaller');
  return (...args) => resource.runInAsyncScope(act, undefined, ...args);
}
