import { plural } from '../../format.js';
import { now } from '../../live/clock.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MARK_EVERY = 6;
// The server sends no more, and so many marks are a band.
const MAX_MARKS = 100;

const leftOf = (atMs: number) => `${(((atMs - now.value) / DAY_MS) * 100).toFixed(2)}%`;

/** The ticks of a schedule in the next 24 hours. Null: the server has not computed them. */
export function DayStrip({ ticks }: { ticks: readonly string[] | null }) {
  if (ticks === null) return <span class="soft">see Ticks</span>;
  const isBand = ticks.length >= MAX_MARKS;
  const label = isBand
    ? `${MAX_MARKS} ticks or more in the next 24 hours`
    : `${plural(ticks.length, 'tick')} in the next 24 hours`;
  return (
    <span class="ticks" role="img" aria-label={label}>
      {isBand ? <i class="solid" /> : ticks.map((tick) => <i key={tick} style={{ left: leftOf(Date.parse(tick)) }} />)}
    </span>
  );
}

/** The full hours above the strips. */
export function HourMarks() {
  const first = Math.ceil(now.value / HOUR_MS) * HOUR_MS;
  const hours = Array.from({ length: 24 }, (_, index) => new Date(first + index * HOUR_MS));
  const shown = hours.filter((hour) => hour.getHours() % MARK_EVERY === 0);
  return (
    <>
      <span class="hidden">Next 24 hours</span>
      <span class="ticks axis" aria-hidden="true">
        {shown.map((hour) => (
          <b key={hour.getTime()} style={{ left: leftOf(hour.getTime()) }}>
            {String(hour.getHours()).padStart(2, '0')}:00
          </b>
        ))}
      </span>
    </>
  );
}
