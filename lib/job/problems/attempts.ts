import { Histogram } from '../histogram.js';
import type { MinuteFacts } from './problem-facts.js';

const MINUTE_MS = 60_000;

// A run of failures begins with a minute of at least this share.
const FIRST_SHARE = 0.1;

/** The attempts that ended within some minutes. */
export interface Attempts {
  readonly completed: number;
  readonly failed: number;
  readonly dead: number;
  /** Completed and failed. */
  readonly ended: number;
  readonly waits: Histogram;
  /** The length of the time, of which the present minute is a part. */
  readonly minutes: number;
}

/** The attempts of minutes by their age: 0 is the present minute, which has just begun, and both ends count. */
export function attemptsOf(
  given: readonly MinuteFacts[] | undefined,
  nowMs: number,
  from: number,
  to: number,
): Attempts {
  const sums = { completed: 0, failed: 0, dead: 0, waits: new Histogram() };
  for (const minute of given ?? []) {
    const minutesAgo = minuteOf(nowMs) - minuteOf(minute.startsAtMs);
    if (minutesAgo < from || minutesAgo > to) continue;
    sums.completed += minute.completed;
    sums.failed += minute.failed;
    sums.dead += minute.dead;
    sums.waits.addAll(minute.waits);
  }
  const begun = (nowMs % MINUTE_MS) / MINUTE_MS;
  return { ...sums, ended: sums.completed + sums.failed, minutes: to - from + (from === 0 ? begun : 1) };
}

export function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** The start of the first minute of the last run of failures. A minute without attempts does not end the run. */
export function failingSinceMs(given: readonly MinuteFacts[], nowMs: number): number {
  let since = nowMs;
  for (let minutesAgo = 0; minutesAgo < 60; minutesAgo++) {
    const { failed, ended } = attemptsOf(given, nowMs, minutesAgo, minutesAgo);
    if (ended === 0) continue;
    if (shareOf(failed, ended) < FIRST_SHARE) break;
    since = (minuteOf(nowMs) - minutesAgo) * MINUTE_MS;
  }
  return since;
}

const minuteOf = (ms: number) => Math.floor(ms / MINUTE_MS);
