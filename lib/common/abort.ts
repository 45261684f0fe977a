import { defaultMaxListeners, getMaxListeners, setMaxListeners } from 'node:events';

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
