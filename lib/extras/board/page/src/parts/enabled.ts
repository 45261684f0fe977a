import type { Queue } from '../answers.js';
import { now } from '../live/clock.js';

type Enabled = Queue['settings']['enabled'];

/** Why the setting `enabled` lets the queue run no job now, in a word or two. Undefined: it runs jobs. */
export function disabledText(enabled: Enabled): string | undefined {
  if (enabled === undefined || enabled === true) return undefined;
  if (enabled === false) return 'disabled';
  const clock = clockIn(enabled.tz ?? 'UTC');
  return clock === undefined || isWithin(minutesOf(clock), enabled.from, enabled.to)
    ? undefined
    : `disabled until ${enabled.from}`;
}

// A formatter takes longer to create than to use.
const formatters = new Map<string, Intl.DateTimeFormat | undefined>();

/** The time of day there now, such as `08:00`. Undefined: the browser does not know the zone. */
export function clockIn(timeZone: string): string | undefined {
  if (!formatters.has(timeZone)) formatters.set(timeZone, formatterOf(timeZone));
  return formatters.get(timeZone)?.format(now.value);
}

function formatterOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const format = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  try {
    return new Intl.DateTimeFormat('en-GB', format);
  } catch {
    return undefined;
  }
}

export function isWithin(minutes: number, from: string, to: string): boolean {
  const [start, end] = [minutesOf(from), minutesOf(to)];
  return start < end ? start <= minutes && minutes < end : start <= minutes || minutes < end;
}

export function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number);
  return hours! * 60 + minutes!;
}
