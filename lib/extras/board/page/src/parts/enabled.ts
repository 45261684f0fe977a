import type { Queue } from '../answers.js';
import { now } from '../live/clock.js';

type Enabled = Queue['settings']['enabled'];

/** Why the setting `enabled` lets the queue run no job now, in a word or two. Undefined: it runs jobs. */
export function disabledText(enabled: Enabled): string | undefined {
  if (enabled === undefined || enabled === true) return undefined;
  if (enabled === false) return 'disabled';
  const minutes = minutesOf(clockIn(enabled.tz ?? 'UTC'));
  return isWithin(minutes, enabled.from, enabled.to) ? undefined : `disabled until ${enabled.from}`;
}

/** The time of day there now, such as `08:00`. */
export function clockIn(timeZone: string): string {
  const format = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-GB', format).format(now.value);
}

export function isWithin(minutes: number, from: string, to: string): boolean {
  const [start, end] = [minutesOf(from), minutesOf(to)];
  return start < end ? start <= minutes && minutes < end : start <= minutes || minutes < end;
}

export function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number);
  return hours! * 60 + minutes!;
}
