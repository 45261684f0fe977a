import type { JobOverrides } from './enqueue-options.js';

// Long enough for whoever waits to see it, who deletes it then. If he has died, the pruner does.
const REPLY_KEPT_MS = 60_000;

/** How long the outcome of the job is kept: an answer that somebody waits for for a moment, whatever its queue keeps. */
export function keptMs(overrides: JobOverrides | null, ofQueue: number | false): number | false {
  return overrides?.reply ? REPLY_KEPT_MS : ofQueue;
}
