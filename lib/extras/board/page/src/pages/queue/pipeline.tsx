import type { Queue } from '../../answers.js';
import { compact, countOf, duration, number, percent, plural, sum } from '../../format.js';
import { lines } from '../../live/live.js';
import { href } from '../../live/route.js';
import { Icon, type IconName } from '../../parts/icons.js';
import { perMinute } from '../overview/queue-columns.js';

interface Place {
  readonly state: IconName;
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly to: string;
  readonly tone?: 'bad' | 'warn' | '';
  /** A place without jobs is left out. */
  readonly isShown?: boolean;
}

const LATE_MS = 300_000;

/** The way of a job through the queue, with the number of jobs at each place. */
export function Pipeline({ record }: { record: Queue }) {
  const places = placesOf(record).filter(({ isShown = true }) => isShown);
  return (
    <ol class="pipeline" aria-label="Jobs of the queue">
      {places.map(({ state, name, value, note, to, tone = '' }) => (
        <li key={name} class={`pipe ${tone}`}>
          <a href={to}>
            <span class={`pipe-name s-${state}`}>
              <Icon name={state} size={14} />
              {name}
            </span>
            <b>{value}</b>
            <span class="pipe-note">{note}</span>
          </a>
        </li>
      ))}
    </ol>
  );
}

function placesOf(record: Queue): Place[] {
  const { queue, scheduled, blocked, waiting, staged, prefetched, active, dead } = record;
  const line = lines.value?.get(queue);
  const [completed, failed] = [sum(line?.completed ?? []), sum(line?.failed ?? [])];
  const jobs = (state: string) => href('jobs', { queue, state });
  const isFull = record.maxRunning !== null && active >= record.maxRunning && waiting.value > 0;
  return [
    {
      ...{ state: 'scheduled', name: 'Scheduled', value: countOf(scheduled), to: jobs('scheduled') },
      note: record.nextDueInMs === null ? 'none due' : `next in ${duration(Math.max(0, record.nextDueInMs))}`,
    },
    {
      ...{ state: 'blocked', name: 'Blocked', value: countOf(blocked), to: jobs('blocked') },
      ...{ note: 'by their flows', isShown: blocked.value > 0 },
    },
    {
      ...{ state: 'waiting', name: 'Waiting', value: countOf(waiting), to: jobs('waiting'), note: waitingNote(record) },
      tone: (record.oldestWaitingMs ?? 0) > LATE_MS ? 'warn' : '',
    },
    {
      ...{ state: 'staged', name: 'In a stage', value: countOf(staged), to: href('people', { queue }) },
      ...{ note: 'for people', isShown: staged.value > 0 },
    },
    {
      ...{ state: 'prefetched', name: 'Prefetched', value: number(prefetched), to: jobs('active') },
      ...{ note: 'in workers', isShown: prefetched > 0 },
    },
    {
      ...{ state: 'active', name: 'Running', value: number(active), to: jobs('active'), tone: isFull ? 'warn' : '' },
      note: record.maxRunning === null ? plural(record.workers, 'worker') : `limit ${number(record.maxRunning)}`,
    },
    {
      ...{ state: 'completed', name: 'Completed', value: line ? compact(completed) : '–', to: jobs('completed') },
      note: line ? 'in the last hour' : 'not known',
    },
    {
      ...{ state: 'dead', name: 'Dead', value: countOf(dead), to: href('errors', { queue }) },
      ...{ tone: dead.value > 0 ? 'bad' : '' },
      note: line
        ? `${percent(failed / Math.max(1, failed + completed))} of the hour failed`
        : 'share of failed attempts: not known',
    },
  ];
}

function waitingNote({ queue, waiting, oldestWaitingMs, paused }: Queue): string {
  if (oldestWaitingMs === null) return 'none';
  const rate = perMinute(lines.value?.get(queue));
  const oldest = `oldest ${duration(oldestWaitingMs)}`;
  return paused || !rate ? oldest : `${oldest}, ${duration((waiting.value / rate) * 60_000)} to empty`;
}
