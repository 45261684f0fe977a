import type { Rate } from './limit-options.js';

/** How much of a rate is used up. */
export interface RateUse {
  /** `sliding`: the time up to which jobs have used the rate. `fixed`: the end of the last window with jobs. */
  readonly untilUs: number;
  /** The jobs that have started in that window; 0 with a sliding window. */
  readonly used: number;
}

// The clocks of the nodes of a cluster differ by less.
const CLOCK_TOLERANCE_US = 1_000_000;

/**
 * How many jobs may start now. A sliding window follows the generic cell rate algorithm (ITU-T I.371): each job uses
 * `per / limit` of the time, up to `burst` of them ahead.
 */
export function jobsAllowed(rate: Rate, { untilUs, used }: RateUse, nowMs: number): number {
  if (rate.window === 'fixed')
    return windowEndUs(rate, nowMs) === untilUs ? Math.max(0, rate.limit - used) : rate.limit;
  const spacingUs = jobSpacingUs(rate);
  const aheadUs = Math.max(0, usedUntilUs(rate, untilUs, nowMs) - nowMs * 1_000);
  return Math.max(0, Math.floor((rate.burst * spacingUs - aheadUs) / spacingUs));
}

/**
 * Milliseconds until as many jobs may start, or half of a burst if that is less: with a single one, each process would
 * claim for each job.
 */
export function allowedInMs(rate: Rate, { untilUs }: RateUse, nowMs: number, jobs: number): number {
  if (rate.window === 'fixed') return windowEndUs(rate, nowMs) / 1_000 - nowMs;
  const spacingUs = jobSpacingUs(rate);
  const awaited = Math.max(1, Math.min(jobs, Math.ceil(rate.burst / 2)));
  const fromUs = untilUs - (rate.burst - awaited) * spacingUs;
  return Math.max(0, Math.ceil(fromUs / 1_000 - nowMs));
}

/** The use after the start of further jobs. */
export function useAfter(rate: Rate, { untilUs, used }: RateUse, nowMs: number, jobs: number): RateUse {
  if (rate.window === 'fixed') {
    const endUs = windowEndUs(rate, nowMs);
    return { untilUs: endUs, used: (endUs === untilUs ? used : 0) + jobs };
  }
  return { untilUs: Math.max(usedUntilUs(rate, untilUs, nowMs), nowMs * 1_000) + jobs * jobSpacingUs(rate), used };
}

/** No claim uses a sliding rate further ahead. A later time is from before the clock of the database was set back. */
export function mostAheadUs(rate: Rate): number {
  return rate.burst * jobSpacingUs(rate) + CLOCK_TOLERANCE_US;
}

function usedUntilUs(rate: Rate, untilUs: number, nowMs: number): number {
  return untilUs > nowMs * 1_000 + mostAheadUs(rate) ? 0 : untilUs;
}

/** The time that each job uses, in whole microseconds. */
export function jobSpacingUs({ limit, perMs }: Rate): number {
  return Math.ceil((perMs * 1_000) / limit);
}

function windowEndUs({ perMs }: Rate, nowMs: number): number {
  return (nowMs - (nowMs % perMs) + perMs) * 1_000;
}
