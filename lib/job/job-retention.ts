import type { JobOverrides } from './job-overrides.js';

// The caller of a request reads the result and deletes it. If the caller has died, the pruner deletes it.
const REPLY_RETENTION_MS = 60_000;
// Callers that received the job of another caller may still read its outcome.
const MIN_KEYED_RETENTION_MS = 600_000;

/**
 * How long the history keeps the job; false: it does not. A job with a key stays for ten minutes more than it owns the
 * key, or longer.
 */
export function jobRetentionMs(
  overrides: JobOverrides | null,
  isCompleted: boolean,
  queueRetentionMs: number | false,
): number | false {
  if (overrides === null) return queueRetentionMs;
  if (overrides.reply) return REPLY_RETENTION_MS;
  const { completedMs = queueRetentionMs, deadMs = queueRetentionMs } = overrides.retention ?? {};
  const retentionMs = isCompleted ? completedMs : deadMs;
  if (overrides.key === undefined) return retentionMs;
  const ownedMs = typeof overrides.keyUntil === 'number' ? overrides.keyUntil : 0;
  return Math.max(retentionMs || 0, ownedMs + MIN_KEYED_RETENTION_MS);
}
