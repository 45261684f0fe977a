import { DURATION_EXPECTED, toMs, type Duration } from '../common/duration.js';
import { bulkOf, bulkProblems, type BulkOptions, type ResolvedBulk } from './bulk-options.js';
import { InvalidOptionsError } from './errors.js';
import { expected, isOptions, unknownKeys } from './expectation.js';
import { nameProblem } from './job-names.js';

/** Jobs per second, minute, hour or day, as in `'10/s'`, or jobs per any duration. */
export type ReplayRate = `${number}/${'s' | 'm' | 'h' | 'd'}` | { jobs: number; per: Duration };

/** How finished jobs start anew. */
export interface ReplayOptions extends BulkOptions {
  /**
   * Spreads the jobs over time. The first job waits at once, and the others are scheduled at even intervals, which need
   * no further work of this process. Default: all jobs wait at once.
   */
  rate?: ReplayRate;
  /**
   * Moves the jobs to this queue and keeps their ids. The attempts of that queue apply. Default: each job's own queue.
   */
  to?: string;
  /** Also starts completed jobs anew. Their results are deleted. Default: only if the filter has the state `completed`. */
  completed?: boolean;
}

export interface ResolvedReplay extends ResolvedBulk {
  readonly completed: boolean;
  readonly to: string | undefined;
  /** Milliseconds between two jobs; below 1 if there are several per millisecond. 0: all at once. */
  readonly intervalMs: number;
}

const RATE_EXPECTED = `rate to be like '10/s' (or m, h, d) or { jobs, per }, with jobs above 0`;

export function resolveReplay(given: ReplayOptions): ResolvedReplay {
  const problems = bulkProblems('Cannot retry', given, ['rate', 'to', 'completed']);
  const { rate, to, completed = false } = given;
  const intervalMs = rate === undefined ? 0 : intervalOf(rate);
  InvalidOptionsError.throwIfAny('Cannot retry', [
    ...problems,
    ...(isOptions(rate) ? unknownKeys(rate, ['jobs', 'per']) : []),
    expected(intervalMs !== undefined, `${RATE_EXPECTED}, per ${DURATION_EXPECTED}`, rate),
    to === undefined ? undefined : nameProblem('queue name', to),
    expected(typeof completed === 'boolean', 'completed to be true or false', completed),
  ]);
  return { ...bulkOf(given), to, completed, intervalMs: intervalMs! };
}

function intervalOf(rate: ReplayRate): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)\/([smhd])$/.exec(typeof rate === 'string' ? rate : '') ?? [];
  const { jobs, per } = number ? { jobs: Number(number), per: `1${unit}` } : isOptions(rate) ? rate : {};
  const perMs = toMs(per);
  if (!Number.isFinite(jobs) || !((jobs as number) > 0) || !perMs) return undefined;
  const intervalMs = perMs / (jobs as number);
  // At most a century, like every duration.
  return toMs(intervalMs) === undefined ? undefined : intervalMs;
}
