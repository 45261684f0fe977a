import { clockIn, isWithin, minutesOf } from './enabled.js';

interface Props {
  /** Such as `08:00`. */
  readonly from: string;
  /** Before `from`: on the next day. */
  readonly to: string;
  readonly tz?: string | undefined;
}

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const DAY_MINUTES = 24 * 60;

/** The hours of a day at which something runs, and the time there now. */
export function HoursStrip({ from, to, tz = 'UTC' }: Props) {
  const isOn = (hour: number) => isWithin(hour * 60, from, to) || isWithin(hour * 60 + 59, from, to);
  const time = clockIn(tz);
  return (
    <span class="day" role="img" aria-label={`From ${from} to ${to}, ${time ?? 'unknown time'} now in ${tz}`}>
      {HOURS.map((hour) => (
        <i key={hour} class={isOn(hour) ? 'on' : ''} />
      ))}
      {time !== undefined && <b style={{ left: `${((minutesOf(time) / DAY_MINUTES) * 100).toFixed(1)}%` }} />}
    </span>
  );
}
