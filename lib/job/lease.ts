import { toMs, type Duration } from '../time/duration.js';
import { expected } from './expectation.js';

/** How long a job is its holder's without a word, where nobody says. */
export const DEFAULT_HOLD: Duration = '15m';

/** A problem line where the value can be no lease of a job that a person or another program holds, else undefined. */
export function leaseProblem(lease: unknown): string | undefined {
  return expected((toMs(lease) ?? 0) >= 1_000, `lease to be a duration of 1s or more`, lease);
}
