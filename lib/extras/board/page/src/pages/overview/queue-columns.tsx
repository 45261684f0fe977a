import type { Line, Queue } from '../../answers.js';
import { LastHour } from '../../charts/sparkline.js';
import { compact, countOf, duration, number, percent, sum } from '../../format.js';
import { lines, mostWaiting, problemByQueue } from '../../live/live.js';
import { href } from '../../live/route.js';
import { ActionButton } from '../../parts/action.js';
import { Gauge } from '../../parts/gauge.js';
import type { IconName } from '../../parts/icons.js';
import { QueueLink } from '../../parts/links.js';
import { disabledText } from '../../parts/enabled.js';
import { wordOf } from '../../parts/problem-text.js';
import { State } from '../../parts/state.js';
import { actionsColumn, type Column } from '../../parts/table.js';
import { queueToggle } from '../../parts/toggle.js';

const LATE_MS = 300_000;

/** The completed attempts a minute, over the last five whole minutes. Undefined: not known. */
export const perMinute = (line: Line | undefined) => line && sum(line.completed.slice(-6, -1)) / 5;

const lineOf = ({ queue }: Queue) => lines.value?.get(queue);
const unknown = () => <span class="soft">–</span>;
const zero = () => <span class="soft">0</span>;

export const QUEUE_COLUMNS: readonly Column<Queue>[] = [
  { title: 'Queue', class: 'c-queue', isUnlabelled: true, cell: ({ queue }) => <QueueLink queue={queue} /> },
  { title: 'State', class: 'c-state', isUnlabelled: true, cell: (row) => <QueueState row={row} /> },
  { title: 'Waiting', class: 'wide', isNumber: true, cell: (row) => <Waiting row={row} /> },
  {
    title: 'Oldest',
    isNumber: true,
    cell: ({ oldestWaitingMs }) => (
      <span class={(oldestWaitingMs ?? 0) > LATE_MS ? 'warn' : ''}>{duration(oldestWaitingMs)}</span>
    ),
  },
  { title: 'Running', class: 'wide', cell: (row) => <Running row={row} /> },
  {
    title: 'Workers',
    isNumber: true,
    cell: ({ workers }) => (workers === 0 ? zero() : number(workers)),
  },
  { title: 'Per min', isNumber: true, cell: (row) => rateText(perMinute(lineOf(row))) },
  { title: 'Fails', isNumber: true, cell: (row) => <Fails line={lineOf(row)} /> },
  {
    title: 'Dead',
    isNumber: true,
    cell: ({ queue, dead }) =>
      dead.value === 0 ? (
        zero()
      ) : (
        <a class="bad" href={href('errors', { queue })} aria-label={`${countOf(dead)} dead jobs of ${queue}`}>
          {countOf(dead)}
        </a>
      ),
  },
  { title: 'Last hour', class: 'spark-cell', isUnlabelled: true, cell: (row) => <Course row={row} /> },
  { title: 'Scheduled', isNumber: true, class: 'c-scheduled', cell: (row) => <Scheduled row={row} /> },
  actionsColumn((row) => (
    <ActionButton verbs={row.verbs} action={queueToggle(row)} icon={row.paused ? 'play' : 'paused'} isIcon />
  )),
];

function QueueState({ row }: { row: Queue }) {
  const [icon, word] = stateOf(row);
  return <State state={icon} text={word} />;
}

function stateOf(row: Queue): readonly [IconName, string] {
  const problem = problemByQueue.value.get(row.queue);
  // The pause is newer than the sample of the problems.
  if (row.paused) return ['paused', 'paused'];
  if (problem && problem.rule !== 'paused') return [problem.severity, wordOf(problem)];
  const disabled = disabledText(row.settings.enabled);
  if (disabled) return ['paused', disabled];
  if (row.workers === 0) return ['idle', 'no worker'];
  return row.active > 0 || row.waiting.value > 0 ? ['active', 'running'] : ['idle', 'idle'];
}

function Waiting({ row: { queue, waiting } }: { row: Queue }) {
  const width = Math.sqrt(waiting.value / mostWaiting.value) * 100;
  return (
    <a href={href('jobs', { queue, state: 'waiting' })} class="bar-cell">
      <span class="mini">
        <i style={{ width: `${width}%` }} />
      </span>
      {countOf(waiting)}
    </a>
  );
}

function Running({ row: { queue, active, maxRunning, waiting } }: { row: Queue }) {
  if (active === 0 && maxRunning === null) return zero();
  return (
    <Gauge value={active} max={maxRunning} isPressed={waiting.value > 0} label={`Running jobs of ${queue}`}>
      <a href={href('jobs', { queue, state: 'active' })}>{number(active)}</a>
    </Gauge>
  );
}

function Fails({ line }: { line: Line | undefined }) {
  const failed = sum(line?.failed.slice(-6) ?? []);
  const all = failed + sum(line?.completed.slice(-6) ?? []);
  if (all === 0) return unknown();
  return <span class={failed / all >= 0.1 ? 'bad' : ''}>{percent(failed / all)}</span>;
}

function rateText(rate: number | undefined) {
  if (rate === undefined) return unknown();
  if (rate === 0) return zero();
  return rate < 10 ? rate.toFixed(1) : compact(rate);
}

function Course({ row }: { row: Queue }) {
  const line = lineOf(row);
  if (!line) return unknown();
  const label = `${row.queue}: ${number(sum(line.completed))} completed, ${number(sum(line.failed))} failed in the last hour`;
  return <LastHour line={line} label={label} />;
}

function Scheduled({ row: { queue, scheduled, nextDueInMs } }: { row: Queue }) {
  if (scheduled.value === 0) return zero();
  return (
    <span class="two-lines">
      <a href={href('jobs', { queue, state: 'scheduled' })}>{countOf(scheduled)}</a>
      {nextDueInMs !== null && <span class="soft">{nextDueInMs <= 0 ? 'due' : `in ${duration(nextDueInMs)}`}</span>}
    </span>
  );
}
