import { Cron } from 'croner';

const DAY_MS = 86_400_000;
// The zones with the longest shift, apart from changes of the date line, change by two hours.
const MAX_SHIFT_MS = 3 * 3_600_000;

/**
 * The ticks of a cron expression of five fields, or of six with seconds first, in a time zone. If the clocks are set
 * forward, times of fixed hours inside the gap run once, at its end. If they are set back, times of fixed hours run once,
 * and those of `*` and step hours run in both hours. Days of the month and of the week add up (`0 0 13 * 5`), as in
 * Vixie cron.
 */
export class CronTicks {
  readonly #cron: Cron;
  /** The same expression without a time zone: it also has the times inside a gap. Undefined if the hours are not fixed. */
  readonly #wallClock: Cron | undefined;
  readonly #zone: ZoneOffsets;

  /** @throws Error if the expression or the zone is invalid */
  constructor(expression: string, timezone: string) {
    this.#zone = new ZoneOffsets(timezone);
    this.#cron = new Cron(expression, { timezone, paused: true, mode: '5-or-6-parts' });
    const fields = expression.trim().split(/\s+/);
    // croner also takes a date, which would run once, or never.
    if (fields.length < 5 && !expression.includes('@')) throw new Error('five or six fields are required');
    const hours = fields.at(-4);
    if (hours !== undefined && !hours.includes('*'))
      this.#wallClock = new Cron(expression, { timezone: 'UTC', paused: true, mode: '5-or-6-parts' });
  }

  /** The first tick after `ms`; null if there is none. */
  next(ms: number): number | null {
    const next = this.#wallClock ? this.#nextOnce(ms) : this.#nextRun(ms);
    const afterGap = this.#tickAfterGap(ms);
    return afterGap !== null && (next === null || afterGap < next) ? afterGap : next;
  }

  /** At most `count` ticks from `fromMs` to before `toMs`, the last ones. */
  last(count: number, fromMs: number, toMs: number): number[] {
    // Without the ticks after gaps, and with at most one repetition of each tick. So there are at least as many from the
    // first of them on, if their first occurrences count.
    const first = this.#firstRun(this.#wallClock ? 2 * count : count, fromMs, toMs);
    const ticks: number[] = [];
    const isFirstShown = !this.#wallClock || !this.#zone.isSetBackNear(first);
    let tick = this.next(Math.max(fromMs, isFirstShown ? first : first - MAX_SHIFT_MS) - 1);
    for (; tick !== null && tick < toMs; tick = this.next(tick)) ticks.push(tick);
    return ticks.slice(-count);
  }

  /**
   * The first of the last `count` runs before `toMs`; `toMs` if there is none. Takes more and more of them until one is not
   * later than `fromMs`: a thousand runs block the event loop for long.
   */
  #firstRun(count: number, fromMs: number, toMs: number): number {
    for (let size = 1; ; size *= 4) {
      const runs = this.#cron.previousRuns(Math.min(size, count), new Date(toMs)).map((run) => run.getTime());
      const first = Math.min(toMs, ...runs);
      if (first <= fromMs || runs.length < size || size >= count) return first;
    }
  }

  #nextRun(ms: number): number | null {
    return this.#cron.nextRun(new Date(ms))?.getTime() ?? null;
  }

  /** Without the times that the clocks show again after they were set back. */
  #nextOnce(ms: number): number | null {
    const next = this.#nextRun(ms);
    const repeatedUntil = next === null ? null : this.#zone.repeatedUntil(next);
    return repeatedUntil === null ? next : this.#nextRun(repeatedUntil - 1);
  }

  /** The end of a gap that contains the next time of the wall clock, if the end is later than `ms`. */
  #tickAfterGap(ms: number): number | null {
    const wall = this.#wallClock?.nextRun(new Date(this.#zone.toWall(ms)))?.getTime();
    if (wall === undefined) return null;
    const end = this.#zone.endOfGap(wall);
    return end !== null && end > ms ? end : null;
  }
}

/** The offsets of a time zone. A wall time is a time of its clocks, in the form of the UTC time with the same digits. */
class ZoneOffsets {
  readonly #format: Intl.DateTimeFormat;

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  }

  toWall(ms: number): number {
    const parts = Object.fromEntries(this.#format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const { year, month, day, hour, minute, second } = parts as Record<string, number>;
    return Date.UTC(year!, month! - 1, day, hour, minute, second);
  }

  /** The end of the gap that contains the wall time; null if the clocks show that time. */
  endOfGap(wall: number): number | null {
    const before = this.#offsetAt(wall - DAY_MS);
    const after = this.#offsetAt(wall + DAY_MS);
    if (after <= before || after - before > MAX_SHIFT_MS) return null;
    const [low, high] = [wall - after, wall - before];
    if (this.#offsetAt(low) !== before || this.#offsetAt(high) !== after) return null;
    return this.#changeBetween(low, high);
  }

  isSetBackNear(ms: number): boolean {
    return this.#offsetAt(ms - MAX_SHIFT_MS) > this.#offsetAt(ms + MAX_SHIFT_MS);
  }

  /** If the clocks show the time of `ms` for the second time: the end of the repeated time. */
  repeatedUntil(ms: number): number | null {
    const shiftMs = this.#offsetAt(ms - MAX_SHIFT_MS) - this.#offsetAt(ms);
    if (shiftMs <= 0 || shiftMs > MAX_SHIFT_MS) return null;
    const end = this.#changeBetween(ms - MAX_SHIFT_MS, ms) + shiftMs;
    return ms < end ? end : null;
  }

  /** The first second with the offset of `high`. The offset changes once after `low`. */
  #changeBetween(low: number, high: number): number {
    const after = this.#offsetAt(high);
    while (high - low > 1_000) {
      const middle = low + Math.floor((high - low) / 2_000) * 1_000;
      if (middle === low) break;
      if (this.#offsetAt(middle) === after) high = middle;
      else low = middle;
    }
    return high;
  }

  #offsetAt(ms: number): number {
    const second = Math.floor(ms / 1_000) * 1_000;
    return this.toWall(second) - second;
  }
}
