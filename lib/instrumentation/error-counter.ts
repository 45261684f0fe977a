import type { EndedAttempt } from '../job/instrumentation.js';
import { errorKey } from '../job/stored-error.js';
import {
  addErrors,
  MAX_ERRORS,
  OTHER_ERRORS,
  type ErrorCounts,
  type ErrorsRow,
  type MetricsPlace,
} from '../store/features/metrics/metrics-store.js';

// Longer than any error of the library, so that its column accepts that of every program.
const MAX_KEY = 255;

/** The failed attempts of one queue in the present minute, by their errors. */
export class ErrorCounter {
  readonly #counts = new Map<string, ErrorCounts>();
  readonly #unsaved = new Set<string>();

  /**
   * Counts an attempt that failed.
   *
   * @param atMs the time of the database; undefined if it is not known yet
   */
  add({ outcome, error, jobId }: Pick<EndedAttempt, 'outcome' | 'error' | 'jobId'>, atMs = 0): void {
    const one = { failed: 1, dead: outcome === 'dead' ? 1 : 0, firstAtMs: atMs, lastAtMs: atMs, jobId };
    // An error whose name has a value of its own in each job must not fill the memory, or the table.
    const wanted = errorKey(error).slice(0, MAX_KEY);
    const key = this.#counts.has(wanted) || this.#counts.size < MAX_ERRORS ? wanted : OTHER_ERRORS;
    const counts = this.#counts.get(key);
    if (counts) addErrors(counts, one);
    else this.#counts.set(key, one);
    this.#unsaved.add(key);
  }

  /** The errors whose counts have changed since the last call. An unknown time is that of the minute. */
  take(place: MetricsPlace): ErrorsRow[] {
    const taken = [...this.#unsaved].map((error) => {
      const counts = this.#counts.get(error)!;
      const { startsAtMs } = place;
      const times = { firstAtMs: counts.firstAtMs || startsAtMs, lastAtMs: counts.lastAtMs || startsAtMs };
      return { ...place, error, ...counts, ...times };
    });
    this.#unsaved.clear();
    return taken;
  }
}
