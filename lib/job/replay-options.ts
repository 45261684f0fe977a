import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { InvalidOptionsError } from './errors.js';
import { expected, isOptions, unknownKeys } from './expectation.js';
import { nameProblem } from './job-names.js';

/** So many jobs a second, minute, hour or day, as `'10/s'`; or within any time. */
export type ReplayRate = `${number}/${'s' | 'm' | 'h' | 'd'}` | { jobs: number; per: Duration };

/** How dead jobs start anew. */
export interface ReplayOptions {
  /**
   * Not all at once, but so many within a time: the first waits at once, the others are scheduled, evenly. They run on time
   * also where the process that asked is gone by then. Default: all at once.
   */
  rate?: ReplayRate;
  /** Into this queue instead of their own, with their ids; how often they may be tried is that queue's to say. */
  to?: string;
}

export interface ResolvedReplay {
  readonly to: string | undefined;
  /** How far one job is from the next in milliseconds, a fraction where there are more in each. 0: all at once. */
  readonly everyMs: number;
}

const RATE_EXPECTED = `rate to be like '10/s' (or m, h, d) or { jobs, per }, with jobs above 0`;

/** Checks the options; all problems in one InvalidOptionsError. */
export function resolveReplay(given: ReplayOptions): ResolvedReplay {
  const { rate, to, ...unknown } = isOptions(given) ? given : ({ given } as ReplayOptions);
  const everyMs = rate === undefined ? 0 : intervalOf(rate);
  InvalidOptionsError.throwIfAny('Cannot retry', [
    ...(isOptions(given) ? unknownKeys(unknown, ['rate', 'to']) : [expected(false, 'options to be an object', given)]),
    ...(isOptions(rate) ? unknownKeys(rate, ['jobs', 'per']) : []),
    expected(everyMs !== undefined, `${RATE_EXPECTED}, per ${DURATION_EXPECTED}`, rate),
    to === undefined ? undefined : nameProblem('queue name', to),
  ]);
  return { to, everyMs: everyMs! };
}

function partsOf(rate: unknown): { jobs?: unknown; per?: unknown } {
  return isOptions(rate) ? rate : {};
}

function intervalOf(rate: unknown): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)\/([smhd])$/.exec(typeof rate === 'string' ? rate : '') ?? [];
  const { jobs, per } = number ? { jobs: Number(number), per: `1${unit}` } : partsOf(rate);
  const perMs = toMs(per);
  if (!Number.isFinite(jobs) || !((jobs as number) > 0) || !perMs) return undefined;
  const everyMs = perMs / (jobs as number);
  // A century at most, as every duration.
  return toMs(everyMs) === undefined ? undefined : everyMs;
}
