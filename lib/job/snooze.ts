import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { isDate } from './enqueue-options.js';
import { expected } from './expectation.js';
import type { Outcome } from './outcome.js';

/** When a snoozed job may be claimed again: so long from now, or at that time. */
export type SnoozeUntil = Duration | Date;

export function snoozeProblem(until: unknown): string | undefined {
  const isTime = until instanceof Date ? isDate(until) : toMs(until) !== undefined;
  return expected(isTime, `the time to be ${DURATION_EXPECTED}, or a Date between 1970 and 9999`, until);
}

/** Of a time that has been checked. A date is compared with the database's clock; `nowMs` tells about how far away it is. */
export function snooze(until: SnoozeUntil, nowMs: number): Extract<Outcome, { kind: 'snooze' }> {
  if (!(until instanceof Date)) return { kind: 'snooze', delayMs: toMs(until)! };
  const untilMs = until.getTime();
  return { kind: 'snooze', delayMs: Math.max(0, untilMs - nowMs), untilMs };
}
