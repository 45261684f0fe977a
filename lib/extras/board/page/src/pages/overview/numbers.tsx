import type { ComponentChildren } from 'preact';
import type { Line, Point } from '../../answers.js';
import { evenPoints, type Step } from '../../charts/history.js';
import { compact, duration, number, percent, sum } from '../../format.js';
import { isLoaded, lines, queues, workers } from '../../live/live.js';
import { href } from '../../live/route.js';
import { slotsOf } from '../../parts/worker-state.js';

// Whole minutes: the last one has just begun.
const RECENT = [-6, -1] as const;
const HOUR = [-60, -1] as const;

/** Six numbers about all queues. Each is a link to what is behind it. */
export function Numbers({ points, step }: { points: readonly Point[] | undefined; step: Step }) {
  return (
    <dl class="numbers">
      <Completed />
      <FailedShare />
      <Waiting />
      <Wait points={points} step={step} />
      <Running />
      <Workers />
    </dl>
  );
}

interface NumberProps {
  readonly name: string;
  readonly to: string;
  readonly note: ComponentChildren;
  readonly isBad?: boolean;
  readonly children: ComponentChildren;
}

function Number({ name, to, note, isBad = false, children }: NumberProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad ? 'bad' : ''}>
        <a href={to}>{children}</a>
      </dd>
      <dd class="note">{note}</dd>
    </div>
  );
}

/** Undefined: not known. */
function totalOf(field: 'completed' | 'failed', [from, to]: readonly [number, number]): number | undefined {
  return lines.value && sum([...lines.value.values()].map((line: Line) => sum(line[field].slice(from, to))));
}

function Completed() {
  const [inRange, inHour] = [totalOf('completed', RECENT), totalOf('completed', HOUR)];
  if (inRange === undefined || inHour === undefined)
    return (
      <Number name="Completed a minute" to={href('jobs', { state: 'completed' })} note="not known">
        –
      </Number>
    );
  const recent = inRange / 5;
  const hour = inHour / 59;
  const change = hour === 0 ? 0 : recent / hour - 1;
  const sign = change < 0 ? '▼' : '▲';
  const note =
    Math.abs(change) < 0.005 ? 'as in the last hour' : `${sign} ${percent(Math.abs(change))} against the hour`;
  return (
    <Number name="Completed a minute" to={href('jobs', { state: 'completed' })} note={note}>
      {recent > 0 && recent < 10 ? recent.toFixed(1) : compact(recent)}
    </Number>
  );
}

function FailedShare() {
  const shareOf = (range: readonly [number, number]) => {
    const [failed = 0, completed = 0] = [totalOf('failed', range), totalOf('completed', range)];
    const all = failed + completed;
    return all === 0 ? null : failed / all;
  };
  const recent = shareOf(RECENT);
  const before = shareOf([-60, -45]);
  return (
    <Number
      name="Attempts that fail"
      to={href('errors')}
      note={!lines.value ? 'not known' : before === null ? 'in 5 minutes' : `${percent(before)} an hour ago`}
    >
      {recent === null ? '–' : percent(recent)}
    </Number>
  );
}

function Waiting() {
  const waiting = sum(queues.value.map((one) => one.waiting.value));
  const isMore = queues.value.some((one) => one.waiting.atLeast);
  const oldest = Math.max(0, ...queues.value.map((one) => one.oldestWaitingMs ?? 0));
  const note = !isLoaded.value ? 'not known' : waiting === 0 ? 'in all queues' : `the oldest for ${duration(oldest)}`;
  return (
    <Number name="Waiting jobs" to={href('jobs', { state: 'waiting' })} note={note}>
      {isLoaded.value ? compact(waiting) : '–'}
      {isMore && '+'}
    </Number>
  );
}

function Wait({ points, step }: { points: readonly Point[] | undefined; step: Step }) {
  const last = points && evenPoints(points, step).findLast(({ waitMs }) => waitMs !== null);
  return (
    <Number name="Wait, 95 % below" to={href('overview')} note={`half below ${duration(last?.waitMs?.p50)}`}>
      {duration(last?.waitMs?.p95)}
    </Number>
  );
}

function Running() {
  const running = sum(queues.value.map((one) => one.active));
  const prefetched = sum(queues.value.map((one) => one.prefetched));
  const alive = workers.value?.filter((one) => !one.isSilent) ?? [];
  const slots = alive.length > 0 ? `${number(sum(alive.map(slotsOf)))} slots in workers` : 'in workers and with people';
  const note = prefetched > 0 ? `${slots}, and ${number(prefetched)} prefetched` : slots;
  return (
    <Number name="Running jobs" to={href('jobs', { state: 'active' })} note={note}>
      {isLoaded.value ? compact(running) : '–'}
    </Number>
  );
}

function Workers() {
  const all = workers.value;
  const silent = all?.filter((one) => one.isSilent).length ?? 0;
  return (
    <Number
      name="Workers"
      to={href('workers')}
      isBad={silent > 0}
      note={all === undefined ? 'not known' : silent > 0 ? `${silent} silent` : 'all alive'}
    >
      {all === undefined ? '–' : all.length - silent}
      {silent > 0 && <span class="soft"> / {all?.length}</span>}
    </Number>
  );
}
