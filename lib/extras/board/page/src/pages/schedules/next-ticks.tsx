import { useEffect, useState } from 'preact/hooks';
import { read } from '../../api.js';
import { clock, exact } from '../../format.js';
import type { Values } from '../../parts/field.js';
import { cronWords, zoneWords } from './cron-words.js';

const TYPING_MS = 250;

/** The times as texts, as the preview takes them. */
export function timesOf({ cron = '', every = '', tz = '', overlap = '', jitter = '', until = '' }: Values) {
  return { cron, every, tz, overlap, jitter, until: until && new Date(until).toISOString() };
}

interface Preview {
  readonly ticks: readonly string[];
  readonly problems: readonly string[];
}

/** The next ticks of the times in the form, by the server. */
export function NextTicks({ values }: { values: Values }) {
  const [preview, setPreview] = useState<Preview | undefined>(undefined);
  const times = timesOf(values);
  const key = JSON.stringify([times, values['queue']]);
  const hasTimes = times.cron !== '' || times.every !== '';
  useEffect(() => {
    if (!hasTimes) return setPreview(undefined);
    let isLatest = true;
    const load = () =>
      read<Preview>('preview', { ...times, queue: values['queue'] }).then(
        (answer) => isLatest && setPreview(answer),
        () => isLatest && setPreview(undefined),
      );
    const timer = setTimeout(() => void load(), TYPING_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [key]);
  return (
    <section class="next-ticks" aria-live="polite">
      <h3>Next ticks</h3>
      {preview === undefined ? (
        <p class="soft">The times need cron or every.</p>
      ) : preview.problems.length > 0 ? (
        <p class="problem">{preview.problems.join('; ')}</p>
      ) : (
        <>
          {times.cron !== '' && <CronWords cron={times.cron} tz={times.tz || 'UTC'} />}
          <TickTimes ticks={preview.ticks} />
        </>
      )}
    </section>
  );
}

/** Nothing if no words are known: the text of the schedule stands beside them. */
export function CronWords({ cron, tz }: { cron: string; tz: string }) {
  const words = cronWords(cron);
  if (words === undefined) return null;
  return (
    <span class="soft block">
      {words}, {zoneWords(tz)}
    </span>
  );
}

export function TickTimes({ ticks }: { ticks: readonly string[] }) {
  if (ticks.length === 0) return <p>It has no further tick.</p>;
  return (
    <ol class="tick-list">
      {ticks.map((tick) => (
        <li key={tick}>
          <time dateTime={tick} title={exact(tick)}>
            {clock(tick, true)}
          </time>{' '}
          <span class="soft">{tick.slice(0, 19).replace('T', ' ')} UTC</span>
        </li>
      ))}
    </ol>
  );
}
