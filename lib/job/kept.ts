import type { JobOverrides } from './enqueue-options.js';
import { keepWithKey } from './job-key.js';

// Long enough for whoever waits to see it, who deletes it then. If he has died, the pruner does.
const REPLY_KEPT_MS = 60_000;

/**
 * How long the history keeps the job; false: not at all. What its queue says, but for an answer that somebody waits for, which is
 * kept for a moment, and for a job with a key, which others may have joined.
 */
export function keptMs(overrides: JobOverrides | null, ofQueue: number | false): number | false {
  return overrides?.reply ? REPLY_KEPT_MS : keepWithKey(overrides, ofQueue);
}
