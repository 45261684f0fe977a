import { scenarios } from '../scenarios/index.mjs';
import { figuresOf } from './figures.mjs';
import { fine } from './numbers.mjs';
import { OLD, remarks, scenarioTable, summaryTable, table } from './tables.mjs';

/**
 * The report as Markdown. Every figure, setting and version in it comes from `data`; the descriptions come from the
 * scenarios.
 */
export function documentOf(data, charts) {
  const rows = scenarios
    .map((scenario) => ({ scenario, figures: figuresOf(data, scenario) }))
    .filter(({ figures }) => figures.length > 0);
  return [
    '<!-- Written by `npm run report` in bench, from the results there. -->',
    '# Benchmarks',
    opening(data, rows),
    '## At a glance',
    'In brackets: as a multiple of the best peer. If the unit is milliseconds or a share of a core, less is better.',
    summaryTable(rows),
    ...(rows.some(({ figures }) => figures.some(({ isOld }) => isOld)) ? [`†: with figures that were ${OLD}.`] : []),
    '## How to read this',
    READING,
    ...rows.flatMap(({ scenario, figures }) => section(scenario, figures, charts[scenario.id])),
    '## Versions',
    versions(data),
    '## Settings of the contestants',
    SETTINGS,
    ...Object.values(data.contestants).map((contestant) => settingsOf(contestant)),
    '## Settings of the servers',
    'As each server reports them.',
    ...Object.values(data.servers).map((server) => `**${server.title} ${server.version}**\n\n${json(server.settings)}`),
  ].join('\n\n');
}

const READING = `- **Every run of a handler is counted.** A job that was lost, or ran twice, voids the figure of its
  contestant: the table then shows **void** instead of a number.
- **jobs/s** is the median of the runs, beside the lowest and the highest value. **jobs** is the number of measured
  jobs. A contestant that does not finish in time is judged by the jobs that it completed.
- **times …** is the number as a multiple of the best peer's, and of the best durable peer's if that is another one. A
  peer is durable if confirmed jobs survive a power failure; this library's jobs do on all three databases.
- **CPU s per 100,000** is the CPU time of the workers (or of the producers, if jobs are enqueued) and the database
  server together.
- Clients, workers and servers share the cores of one machine. Contestants with a low CPU cost gain by that, as on a
  small machine of your own.`;

const SETTINGS = `The programs pass on exactly these objects. Each scenario names the one it uses. \`bulkChunk\` is the
number of jobs per call of the bulk interface, if their payloads have no more than 5 MB together.`;

function opening({ machine, contestants }, rows) {
  const all = rows.flatMap(({ figures }) => figures);
  const current = all.filter(({ isOld }) => !isOld);
  const moments = (current.length > 0 ? current : all)
    .flatMap(({ runs }) => runs.map(({ at }) => at))
    .sort((a, b) => a.localeCompare(b));
  const days = [...new Set([moments[0], moments.at(-1)].map((at) => at.slice(0, 10)))].join(' to ');
  const { version, commit } = Object.values(contestants).find(({ library }) => library)?.library ?? {};
  const { cpu, cores, memoryGb, system, node, fsyncMs } = machine;
  const library = version ? `nestjs-sql-queue ${version} (commit ${commit}) and its peers` : 'Peers';
  return (
    `${library}, measured ${days} on one machine: ${cores} cores (${cpu}), ${memoryGb} GB of memory, ${system}, ` +
    `Node ${node} for all contestants. Its disk takes ${fine(fsyncMs)} ms (median) to sync 4 kB. The method: ` +
    '[bench](https://github.com/nestjs-sql-queue/nestjs-sql-queue/tree/main/bench).'
  );
}

function section(scenario, figures, chart) {
  return [
    `## ${scenario.title}`,
    [scenario.what, ...(scenario.pair ? [arrows(scenario.pair)] : [])].join(' '),
    `Settings: ${settingsNames(scenario)}. ${numbers(figures)}`,
    ...(chart ? [`![${scenario.title}](${chart})`] : []),
    scenarioTable(scenario, figures),
    remarks(figures),
  ];
}

function arrows({ alone, among }) {
  return `The arrows lead from ${alone} to ${among}.`;
}

function settingsNames({ profile, orElse }) {
  return orElse ? `\`${profile}\`, else \`${orElse}\`` : `\`${profile}\``;
}

/** The numbers of the scenario, as passed to the runs. */
function numbers(figures) {
  const given = figures.flatMap(({ runs }) => runs.map((run) => inWords(run.given)));
  const kinds = [...new Set(given)];
  return kinds.length === 1 ? `Numbers: ${kinds[0]}.` : `Numbers, which differ: ${kinds.join('; or ')}.`;
}

function inWords(given) {
  return Object.entries(given)
    .map(([name, value]) => `${name} ${value.toLocaleString('en-US')}`)
    .join(', ');
}

function versions({ contestants, servers }) {
  const packages = Object.assign({}, ...Object.values(contestants).map(({ versions }) => versions));
  const rows = [...Object.entries(packages), ...Object.values(servers).map(({ title, version }) => [title, version])];
  return table(['', 'version'], rows);
}

function settingsOf({ title, settings }) {
  return `**${title}**\n\n${json(settings)}`;
}

function json(value) {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}
