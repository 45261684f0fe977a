import { age } from '../../../common/units.js';
import type { JobCount, QueueStats } from '../../../store/features/stats/stats-store.js';
import { table, type Cell } from '../output.js';
import type { Rates } from './top-rates.js';

interface Column {
  readonly title: string;
  /** Columns with the greatest number are the first ones that a narrow screen leaves out. */
  readonly rank: number;
  cell(one: QueueStats, rates: Rates | undefined): Cell;
}

const MIN_QUEUE_WIDTH = 12;

const COLUMNS: readonly Column[] = [
  { title: 'WAITING', rank: 0, cell: ({ waiting }) => count(waiting) },
  { title: 'OLDEST', rank: 2, cell: ({ oldestWaitingMs }) => age(oldestWaitingMs) },
  { title: 'ACTIVE', rank: 3, cell: ({ active, prefetched }) => active + prefetched },
  { title: 'PER MIN', rank: 1, cell: (_, rates) => rateText(rates?.completed) },
  { title: 'FAILED', rank: 4, cell: (_, rates) => rateText(rates?.failed) },
  { title: 'DEAD', rank: 5, cell: ({ dead }) => count(dead) },
  { title: 'WORKERS', rank: 6, cell: ({ workers }) => workers },
  { title: 'SCHEDULED', rank: 7, cell: ({ scheduled }) => count(scheduled) },
  { title: 'BLOCKED', rank: 8, cell: ({ blocked }) => count(blocked) },
  { title: 'STAGED', rank: 9, cell: ({ staged }) => count(staged) },
  { title: 'NEXT DUE', rank: 10, cell: ({ nextDueInMs }) => age(nextDueInMs) },
];

const STATUS_TITLES = ['WAITING', 'SCHEDULED', 'BLOCKED', 'STAGED', 'ACTIVE', 'DEAD', 'OLDEST', 'NEXT DUE', 'WORKERS'];

/** The columns of the statistics, without the rates, which `status` does not read. */
export function statusTable(stats: readonly QueueStats[]): string {
  if (stats.length === 0) return 'No queues.';
  const columns = STATUS_TITLES.map((title) => COLUMNS.find((column) => column.title === title)!);
  return linesOf(stats, () => undefined, columns).join('\n');
}

/** As many columns as fit into the width, the important ones first. A name that is too long is cut at its end. */
export function topTable(
  stats: readonly QueueStats[],
  ratesOf: (queue: string) => Rates | undefined,
  width: number,
): string[] {
  for (let most = COLUMNS.length; ; most--) {
    const columns = COLUMNS.filter(({ rank }) => rank < most);
    const lines = linesOf(stats, ratesOf, columns);
    const excess = Math.max(...lines.map((line) => line.length)) - width;
    if (excess <= 0) return lines;
    const longest = Math.max(...stats.map((one) => nameOf(one).length));
    const isLast = most === 1;
    if (isLast || longest - excess >= MIN_QUEUE_WIDTH) return linesOf(stats, ratesOf, columns, longest - excess);
  }
}

function linesOf(
  stats: readonly QueueStats[],
  ratesOf: (queue: string) => Rates | undefined,
  columns: readonly Column[],
  maxName = Infinity,
): string[] {
  const rows = stats.map((one) => [
    shortened(nameOf(one), maxName),
    ...columns.map(({ cell }) => cell(one, ratesOf(one.queue))),
  ]);
  return table(['QUEUE', ...columns.map(({ title }) => title)], rows).split('\n');
}

const nameOf = ({ queue, paused }: QueueStats) => (paused ? `${queue} (paused)` : queue);

function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, Math.max(0, max - 1))}…`;
}

function count({ value, atLeast }: JobCount): string | number {
  return atLeast ? `${value}+` : value;
}

/** Empty before the first read. */
function rateText(perMinute: number | undefined): string {
  if (perMinute === undefined) return '';
  return perMinute > 0 && perMinute < 10 ? perMinute.toFixed(1) : String(Math.round(perMinute));
}
