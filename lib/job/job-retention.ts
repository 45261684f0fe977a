import type { JobOverrides } from './enqueue-options.js';
import { keyedRetentionMs } from './job-key.js';

// The caller of a request reads the result and deletes it. If the caller has died, the pruner deletes it.
const REPLY_RETENTION_MS = 60_000;

/** How long the history keeps the job; false: it does not. */
export function jobRetentionMs(overrides: JobOverrides | null, queueRetentionMs: number | false): number | false {
  return overrides?.reply ? REPLY_RETENTION_MS : keyedRetentionMs(overrides, queueRetentionMs);
}
