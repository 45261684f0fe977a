// The content of the landing page, all of it from README.md, docs/README.md, docs/benchmarks.md and docs/reliability.md.
import { anchorOf, targetOf } from './places.mjs';
import { present, read, readOutline, readRow, readSummary } from './sources.mjs';

/** @param {(markdown: string) => string} render */
export function landing(render) {
  const readme = read('README.md');
  const [install] = present(readme.match(/^npm install nestjs-sql-queue .*mysql2$/m), 'npm install of README.md');
  const example = present(readme.match(/^## Example\n[^]*?^```ts\n([^]*?)^```$/m), 'example in README.md')[1];
  const features = present(
    readOutline().find(({ title }) => title === 'Features'),
    'section "Features" of docs/README.md',
  );

  return {
    sentence: readSummary(),
    install,
    producer: code(render, declarationWith(example, 'producer.enqueue(')),
    handler: code(render, declarationWith(example, '@QueueProcessor(')),
    claims: claims(),
    features: features.entries.map(({ title, href, text }) => ({
      ...{
        title,
        text: sentence(render, text),
        page: targetOf(href, 'docs/README.md').replace(/\.md$/, ''),
      },
    })),
  };
}

function sentence(render, text) {
  const html = render(text).replace(/^<p>|<\/p>\s*$/g, '');
  return `${html[0].toUpperCase()}${html.slice(1)}`;
}

function code(render, source) {
  return render(`\`\`\`ts\n${source}\n\`\`\``);
}

/** The class of the example with this text, with its decorators. */
function declarationWith(example, text) {
  const declarations = example.split(/^(?=@\w)/m);
  return present(
    declarations.find((each) => each.includes(text)),
    `class with "${text}" in the example of README.md`,
  ).trim();
}

/** Figures exactly as they stand in the documents. */
function claims() {
  const reliability = 'docs/reliability.md';
  const run = present(
    read(reliability).match(/^\| (MySQL [\d.]+), seed.*$/m),
    'row of MySQL in the last whole runs of docs/reliability.md',
  );
  const [, minutes, faults, jobs, lost, twice] = run[0]
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
  const [server, lock] = recoveryOf('lock', 'an hour');
  const [, skipLocked] = recoveryOf('skip-locked', '30 s');
  return [
    {
      figure: `${lost} lost, ${twice} twice`,
      name: 'Jobs under injected faults',
      text: `${jobs} acknowledged jobs and ${faults} faults in ${minutes} minutes on ${run[1]}: kills, freezes, lost answers, full disks.`,
      page: '/reliability#the-last-whole-runs',
    },
    {
      figure: lock,
      name: 'Until the jobs of a killed worker run elsewhere',
      text: `Median on ${server}, claim strategy lock. The default strategy waits for the lease of 30 s: ${skipLocked}.`,
      page: '/reliability#jobs-of-a-killed-worker',
    },
    benchmark('Drain, one job at a time, concurrency 10, jobs/s', 'Jobs per second, one at a time'),
    benchmark('Bulk insert, jobs/s', 'Jobs per second, bulk insert'),
    benchmark('Enqueue one by one, jobs/s', 'Jobs per second, enqueued one by one', 'Here peers are faster.'),
  ];
}

/** The server and the median time of a row of "Jobs of a killed worker". */
function recoveryOf(strategy, lease) {
  const row = new RegExp(`^\\| \`${strategy}\`, lease ${lease} +\\| (MySQL [\\d.]+) +\\| +([\\d.]+ s) \\|`, 'm');
  return present(read('docs/reliability.md').match(row), `row of ${strategy} in docs/reliability.md`).slice(1);
}

function benchmark(row, name, remark) {
  const [, mysql, , , peer] = readRow('docs/benchmarks.md', row);
  const [, figure, factor] = present(mysql.match(/^([\d,.]+) \(([\d.]+×)\)$/), `figure of MySQL for "${row}"`);
  const isSlower = Number.parseFloat(factor) < 1;
  return {
    ...{ figure, name },
    text: `On durable MySQL, ${factor} the best peer: ${peer}.${remark && isSlower ? ` ${remark}` : ''}`,
    page: `/benchmarks#${anchorOf(row.replace(/, jobs\/s$/, ''))}`,
  };
}
