import { bestPeer, isDurable } from './figures.mjs';
import { mainMeasure } from './measures.mjs';
import { fine, times, whole } from './numbers.mjs';

const plain = (title, read, write) => ({ title, cell: (figure) => medianOf(figure, read, write) });

const spread = (read, write) => ({
  title: 'least–most',
  cell(figure) {
    const value = figure.of(read);
    return value && figure.runs.length > 1 ? `${write(value.least)}–${write(value.most)}` : '';
  },
});

const middle = (read, write) => ({
  title: 'quartiles',
  cell(figure) {
    const value = figure.of(read);
    return value && figure.runs.length > 1 ? `${write(value.lower)}–${write(value.upper)}` : '';
  },
});

const clientCost = (run) => (run.cpu ? (run.cpu.workers / run.jobs) * 1e6 : undefined);

// A number with and without a burden.
const change = (title, read, write) => ({
  title,
  cell(figure) {
    const [alone, among] = [figure.of((run) => read(run.alone ?? {})), figure.of((run) => read(run.among ?? {}))];
    return alone && among ? `${write(alone.median)} → ${write(among.median)}` : '';
  },
});

// Empty if either number is missing.
const ratio = (among, alone) => (among && alone ? among / alone : null);
const growth = (title, read) => plain(title, (run) => ratio(read(run.among ?? {}), read(run.alone ?? {})), times);

const columns = {
  rate: [
    plain('jobs/s', (run) => run.jobsPerSecond, whole),
    spread((run) => run.jobsPerSecond, whole),
    plain('jobs', (run) => run.jobs, whole),
  ],
  latency: [
    plain('p50 ms', (run) => run.latency?.p50, fine),
    spread((run) => run.latency?.p50, fine),
    plain('p99 ms', (run) => run.latency?.p99, fine),
  ],
  cpu: [
    plain('CPU s per 100,000', (run) => run.cpuPer100k, fine),
    plain('jobs per CPU s', (run) => run.jobsPerCpuSecond, whole),
  ],
  quartiles: [middle((run) => run.jobsPerSecond, whole)],
  client: [plain('worker, CPU µs per job', clientCost, fine), middle(clientCost, fine)],
  pair: [
    change('jobs/s', (result) => result.jobsPerSecond, whole),
    growth('ratio of jobs/s', (result) => result.jobsPerSecond),
    change('claim, p50 ms', (result) => result.claims?.p50, fine),
    change('claim, p99 ms', (result) => result.claims?.p99, fine),
    growth('ratio of p99', (result) => result.claims?.p99),
  ],
  idle: [
    plain('statements/s', (run) => run.statementsPerSecond, fine),
    plain('worker, % of a core', (run) => run.workerPercent, fine),
    plain('server, % of a core', (run) => run.serverPercent, fine),
  ],
};

/** One scenario's table, without columns that have no number. */
export function scenarioTable(scenario, figures) {
  const [first, ...others] = scenario.shows.map((show) => columns[show]);
  const all = [...first, ...ratioColumns(scenario, figures), ...others.flat()];
  const used = all.filter(({ cell }) => figures.some((figure) => cell(figure) !== ''));
  return table(
    ['', ...used.map(({ title }) => title), 'runs'],
    figures.map((figure) => [
      named(figure.contestant),
      ...(figure.counts ? used.map(({ cell }) => cell(figure)) : [inPlaceOf(figure), ...used.slice(1).map(() => '')]),
      String(figure.runs.length),
    ]),
  );
}

/** The reasons for missing numbers and other notes; empty if there are none. */
export function remarks(figures) {
  const areAllOld = figures.every(({ isOld }) => isOld);
  const lines = figures.flatMap((figure) =>
    remarksOn(figure, !areAllOld).map((remark) => `${figure.contestant.title}: ${remark}`),
  );
  return [...(areAllOld ? [`All figures were ${OLD}`] : []), ...lines].map((line) => `- ${line}`).join('\n');
}

export const OLD =
  'measured on another machine, or with other settings, packages or library code, than those listed here';

function remarksOn(figure, saysIfOld) {
  const again = figure.of((run) => run.again || undefined);
  return [
    ...(figure.void ? [`void, ${figure.void}`] : []),
    ...(figure.failed ? [`failed, ${figure.failed}`] : []),
    ...(again
      ? [`stopped while busy, it left jobs in the queue that had run and will run again (${again.most} at most)`]
      : []),
    ...(figure.isOld && saysIfOld ? [OLD] : []),
  ];
}

/**
 * This library's figures beside the best peers', scenario by scenario; in brackets, as a multiple of the best peer's. A
 * scenario with an old figure is marked by a dagger.
 */
export function summaryTable(rows) {
  const ours = unique(
    rows.flatMap(({ figures }) => figures.filter(({ contestant }) => contestant.ours && !isVariant(contestant))),
  );
  return table(
    ['', ...ours.map(({ contestant }) => contestant.title), 'best peer', 'best durable peer'],
    rows.map(({ scenario, figures }) => {
      const { read, write, unit } = mainMeasure(scenario);
      const { peer, durable } = bestPeers(scenario, figures);
      const cellOf = (figure) => (figure ? `${medianOf(figure, read, write)} (${figure.contestant.title})` : '');
      const beside = (value) => (peer ? ` (${times(value / peer.of(read).median)})` : '');
      return [
        `${scenario.title}, ${unit}${figures.some(({ isOld }) => isOld) ? ' †' : ''}`,
        ...ours.map(({ id }) => {
          const figure = figures.find((one) => one.id === id);
          return figure ? medianOf(figure, read, (value) => write(value) + beside(value)) || inPlaceOf(figure) : '';
        }),
        cellOf(peer),
        cellOf(durable),
      ];
    }),
  );
}

export function bestPeers(scenario, figures) {
  const measure = mainMeasure(scenario);
  return { peer: bestPeer(figures, measure), durable: bestPeer(figures, measure, isDurable) };
}

export function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 ? '---' : '--:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

/** Each number as a multiple of the best peer's; two columns if the best peer is not durable. */
function ratioColumns(scenario, figures) {
  const { read, less } = mainMeasure(scenario);
  const { peer, durable } = bestPeers(scenario, figures);
  return [...new Set([peer, durable])].filter(Boolean).map((other) => ({
    title: `times ${other.contestant.title}${less ? ' (less is better)' : ''}`,
    cell: (figure) => medianOf(figure, read, (value) => times(value / other.of(read).median)),
  }));
}

function medianOf(figure, read, write) {
  const value = figure.of(read);
  return value ? write(value.median) : '';
}

function inPlaceOf(figure) {
  return figure.void ? '**void**' : 'failed';
}

function named({ title, ours }) {
  return ours ? `**${title}**` : title;
}

/** Whether a contestant differs from another one in a single setting. */
function isVariant({ variant }) {
  return variant === true;
}

function unique(figures) {
  return [...new Map(figures.map((figure) => [figure.id, figure])).values()];
}
