import { clock, duration, exact } from '../format.js';
import { now } from '../live/clock.js';

interface Props {
  readonly at: string | number | null | undefined;
  /** Also the clock, with seconds or without. */
  readonly withClock?: boolean;
  readonly withSeconds?: boolean;
}

/** How long ago, or until then. The title has the exact time, in the zone of the viewer and in UTC. */
export function When({ at, withClock = false, withSeconds = false }: Props) {
  if (at === null || at === undefined) return <span class="soft">–</span>;
  const date = new Date(at);
  const relative = relativeTime(date.getTime());
  return (
    <time dateTime={date.toISOString()} title={exact(date)}>
      {withClock ? (
        <>
          {clock(date, withSeconds)}
          <span class="soft">, {relative}</span>
        </>
      ) : (
        relative
      )}
    </time>
  );
}

export function relativeTime(atMs: number): string {
  const ms = now.value - atMs;
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `${duration(ms)} ago` : `in ${duration(-ms)}`;
}
