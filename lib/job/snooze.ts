import { DURATION_EXPECTED, toMs, type Duration } from '../common/units.js';
import { expected } from './expectation.js';
import { date } from './option-schema.js';

/** When a snoozed job can be claimed again: after a duration, or at a time between 1970 and 9999. */
export type SnoozeUntil = Duration | Date;

export interface Delay {
  readonly delayMs: number;
  /** The end by the clock of the database. Replaces `delayMs`, which then is an estimate. */
  readonly untilMs?: number;
}

export function snoozeProblem(until: unknown): string | undefined {
  const isTime = until instanceof Date ? date.parse(until) !== undefined : toMs(until) !== undefined;
  return expected(isTime, `the time to be ${DURATION_EXPECTED}, or a Date between 1970 and 9999`, until);
}

export function describeUntil(until: SnoozeUntil): string {
  return until instanceof Date ? `until ${until.toISOString()}` : `for ${toMs(until)} ms`;
}

/** The clock of the database decides when a date is due; `nowMs` only estimates the delay. */
export function toDelay(until: SnoozeUntil, nowMs: number): Delay {
  if (!(until instanceof Date)) return { delayMs: toMs(until)! };
  const untilMs = until.getTime();
  return { delayMs: Math.max(0, untilMs - nowMs), untilMs };
}
