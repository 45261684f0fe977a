import type { Outcome } from '../../job/outcome.js';
import { completeWithoutResult } from '../../job/payload.js';
import type { StoredError } from '../../job/stored-error.js';
import type { Completion } from '../../store/jobs/completion.js';

/** The replacement of an outcome that the database rejects. `isLast`: if it is rejected, too, the job is abandoned. */
export function substituteOutcome(
  { job, outcome }: Completion,
  error: StoredError,
): { outcome: Outcome; isLast: boolean } {
  if (outcome.kind === 'complete' && outcome.result !== null)
    return { outcome: completeWithoutResult(`The database rejected it: ${error.message}`), isLast: false };
  if (job.attempt >= job.maxAttempts) return { outcome: { kind: 'dead', error }, isLast: true };
  return { outcome: { kind: 'retry', delayMs: 1_000, error }, isLast: true };
}
