import type { Outcome } from '../job/outcome.js';
import { completionWithout } from '../job/payload.js';
import type { StoredError } from '../job/stored-error.js';
import type { Settlement } from '../store/job-store.js';

/** What is written in place of an outcome that the database refuses: a completion first goes without its result. */
export function insteadOf({ job, outcome }: Settlement, error: StoredError): { outcome: Outcome; isLast: boolean } {
  if (outcome.kind === 'complete' && outcome.result !== null)
    return { outcome: completionWithout(`The database refused it: ${error.message}`), isLast: false };
  if (job.attempt >= job.maxAttempts) return { outcome: { kind: 'dead', error }, isLast: true };
  return { outcome: { kind: 'retry', delayMs: 1_000, error }, isLast: true };
}
