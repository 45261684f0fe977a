import { encodeErrors } from '../../job/attempt-errors.js';
import type { Completion } from './completion.js';

/** The errors of a job with that of its attempt, as JSON; null: none. */
export function errorsAfter({ job, outcome, endedAt }: Pick<Completion, 'job' | 'outcome' | 'endedAt'>): string | null {
  const { attempt, lastError, errors } = job;
  if ('error' in outcome && outcome.error) return encodeErrors({ ...outcome.error, attempt, at: endedAt }, errors);
  // A completed job shows no error, but keeps those of its earlier attempts.
  if (outcome.kind !== 'cancel' || !lastError) return encodeErrors(null, errors);
  const last = errors.at(-1) ?? { attempt };
  return encodeErrors({ ...last, ...lastError }, errors.slice(0, -1));
}
