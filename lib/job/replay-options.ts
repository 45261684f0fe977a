import { DURATION_EXPECTED, toMs, type Duration } from '../common/units.js';
import { BULK_OPTIONS, type BulkOptions } from './bulk-options.js';
import { expected, isOptions, unknownKeys } from './expectation.js';
import { nameProblem } from './identifiers.js';
import { checkAndResolve, checked, flag, option, type Option, type SchemaOf } from './option-schema.js';

/** Jobs per second, minute, hour or day, as in `'10/s'`, or jobs per any duration. */
export type ReplayRate = `${number}/${'s' | 'm' | 'h' | 'd'}` | { jobs: number; per: Duration };

/** How finished jobs start anew. */
export interface ReplayKind {
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

/** Options of a retry of several jobs. */
export interface ReplayOptions extends BulkOptions, ReplayKind {}

const RATE_EXPECTED = `to be like '10/s' (or m, h, d) or { jobs, per }, with jobs above 0, per ${DURATION_EXPECTED}`;

/** Milliseconds between two jobs; below 1 if there are several per millisecond. 0: all at once. */
const INTERVAL: Option<number> = {
  problems: (name, rate) => [
    ...(isOptions(rate) ? unknownKeys(rate, ['jobs', 'per']) : []),
    expected(intervalOf(rate as ReplayRate) !== undefined, `${name} ${RATE_EXPECTED}`, rate),
  ],
  resolve: (rate) => (rate === undefined ? 0 : intervalOf(rate as ReplayRate)!),
};

const REPLAY_KIND = {
  rate: INTERVAL,
  to: checked<string | undefined>((queue) => [nameProblem('queue name', queue)]),
  completed: option(flag, false),
} satisfies SchemaOf<ReplayKind>;

const REPLAY_OPTIONS = { ...BULK_OPTIONS, ...REPLAY_KIND } satisfies SchemaOf<ReplayOptions>;

export function resolveReplay(given: ReplayOptions) {
  const { rate: intervalMs, ...others } = checkAndResolve('Cannot retry', REPLAY_OPTIONS, given);
  return { ...others, intervalMs };
}

export function resolveReplayKind(where: string, given: ReplayKind) {
  const { rate: intervalMs, ...others } = checkAndResolve(where, REPLAY_KIND, given);
  return { ...others, intervalMs };
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
