import { isPromiseLike } from '../../common/maybe-promise.js';
import { isOptions } from '../expectation.js';
import { isTimeZone } from '../time-zone.js';

/** The times of each day at which a queue runs jobs. */
export interface EnabledTimes {
  /** The start, as `HH:MM` from `00:00` to `23:59`. */
  from: string;
  /** The end, as `HH:MM` up to `24:00`. Before `from`: on the next day. Not equal to `from`. */
  to: string;
  /** The time zone, such as `Europe/Berlin`. Default `UTC`. */
  tz?: string;
}

export const ENABLED_EXPECTED = `true, false, or { from, to, tz? } with different times like '08:00'`;

const DAY_MINUTES = 24 * 60;

export function isEnabled(value: unknown): value is boolean | EnabledTimes {
  if (typeof value === 'boolean') return true;
  if (!isOptions(value)) return false;
  const { from, to, tz, ...unknown } = value as Readonly<Record<string, unknown>>;
  const [start, end] = [minutesOf(from), minutesOf(to)];
  return (
    start !== undefined &&
    end !== undefined &&
    start < DAY_MINUTES &&
    start !== end &&
    (tz === undefined || isTimeZone(tz)) &&
    Object.keys(unknown).length === 0
  );
}

/** @param atMs the time of the database, in milliseconds since 1970 */
export function isEnabledAt(enabled: boolean | EnabledTimes | undefined, atMs: number): boolean {
  if (enabled === undefined || typeof enabled === 'boolean') return enabled ?? true;
  const [from, to] = [minutesOf(enabled.from)!, minutesOf(enabled.to)!];
  const minutes = minutesOfDay(atMs, enabled.tz ?? 'UTC');
  return from < to ? from <= minutes && minutes < to : from <= minutes || minutes < to;
}

/** Whether the hours of the settings include the time at which the statistics were read, by the clock of the database. */
export function isEnabledNow(queue: {
  readonly settings: { readonly enabled?: boolean | EnabledTimes };
  readonly sampledAt: Date;
  readonly ageMs: number;
}): boolean {
  return isEnabledAt(queue.settings.enabled, queue.sampledAt.getTime() + queue.ageMs);
}

/** Whether an administrator has stopped the queue in all processes: by a pause, or by `enabled: false`. */
export function isPausedEverywhere(queue: {
  readonly paused: boolean;
  readonly settings: { readonly enabled?: boolean | EnabledTimes };
}): boolean {
  return queue.paused || queue.settings.enabled === false;
}

/** The answer of the option `enabled`. Throws for an answer that is neither true nor false. */
export function askEnabled(enabled: () => unknown): boolean {
  const answer = enabled();
  if (typeof answer === 'boolean') return answer;
  // The rejection of an asynchronous function would end the process.
  if (isPromiseLike(answer)) Promise.resolve(answer).catch(() => undefined);
  throw new Error(`expected true or false, got ${typeof answer}`);
}

function minutesOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/.test(value)) return undefined;
  const [hours, minutes] = value.split(':').map(Number);
  return hours! * 60 + minutes!;
}

// A formatter takes longer to create than to use.
const formatters = new Map<string, Intl.DateTimeFormat>();

function minutesOfDay(atMs: number, timeZone: string): number {
  let formatter = formatters.get(timeZone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
    formatters.set(timeZone, formatter);
  }
  return minutesOf(formatter.format(atMs))!;
}
