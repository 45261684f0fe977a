// npm run growth -- [--server mysql,mariadb,sqlite] [--scale 1] [--only waiting,flow] [--rounds 25]
//
// Measures whether a verb takes the same time while the tables grow, and whether the server reads as many rows for it, and
// pages of InnoDB: these include deleted rows, and grow with the levels of an index. Each dimension fills two databases of one
// server, a small and a large one. The calls alternate between both, so that they share the noise. --scale multiplies the sizes
// of the large ones: 0.001 for a try. The exit code is 1 if a verb is clearly more than 10 % slower, or reads more rows. Ctrl-C
// stops the servers and removes the databases.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { compileCode } from './build.mjs';
import { ServerRun } from './databases/servers.mjs';
import { DIMENSIONS } from './growth/dimensions.mjs';
import { openServer } from './growth/server.mjs';
import { onStopSignal } from './stop-signal.mjs';

const MOST = 1.1;
// A call of a verb may read further rows, for example of an index with one more level or of a check once a second.
const FURTHER_ROWS = 3;
const COUNTED_ROUNDS = 5;

const text = { type: 'string' };
const { values } = parseArgs({
  options: {
    server: { ...text, default: 'mysql' },
    scale: { ...text, default: '1' },
    only: { ...text, default: Object.keys(DIMENSIONS).join(',') },
    rounds: { ...text, default: '25' },
  },
});
const unknown = values.only.split(',').filter((name) => !(name in DIMENSIONS));
if (unknown.length > 0) {
  console.error(`expected --only ${Object.keys(DIMENSIONS).join(',')}, got ${unknown.join(',')}`);
  process.exit(2);
}

// The package does not export these. In the repository the modules find its packages.
const internals = resolve(import.meta.dirname, '../build/growth');
await compileCode(internals);
const load = (path) => import(join(internals, path));
const library = {
  ...(await load('store/open-store.js')),
  ...(await load('store/rows/history.js')),
  ...(await load('common/clock.js')),
  ...(await load('job/signal.js')),
};

const run = await ServerRun.begin();
let server;
let isStopping = false;
onStopSignal(async (_signal, exitCode) => {
  if (isStopping) return;
  isStopping = true;
  await server?.end().catch(() => undefined);
  await run.end();
  process.exit(exitCode);
});
try {
  for (const kind of values.server.split(',')) {
    server = await openServer(kind, run, library);
    for (const name of values.only.split(',')) await measure(name, DIMENSIONS[name]);
    await server.end();
  }
} catch (error) {
  // The end of the server rejects the call that was under way.
  if (!isStopping) throw error;
} finally {
  await server?.end();
  await run.end();
}

async function measure(name, { title, small, large, fill, steps }) {
  const sizes = [small, Math.max(small, Math.round(large * Number(values.scale)))];
  const startedAt = performance.now();
  const worlds = [];
  for (const [index, size] of sizes.entries()) {
    const world = await server.createWorld(['small', 'large'][index], size);
    await fill(world, size);
    await world.analyze();
    worlds.push(world);
  }
  console.error(`${server.version}: ${name} filled in ${seconds(startedAt)}`);
  const verbs = new Map();
  for (let round = -COUNTED_ROUNDS; round < Number(values.rounds); round++)
    await takeRound(worlds, steps, verbs, round);
  for (const world of worlds) await world.close();
  report(`${server.version}, ${name}: ${sizes[1].toLocaleString('en')} ${title} instead of ${small}`, verbs);
  console.error(`${name} took ${seconds(startedAt)}`);
}

/** Each step runs in both databases before the next one. The rows are counted in rounds of their own, which warm up. */
async function takeRound(worlds, steps, verbs, round) {
  const runs = worlds.map((world) => ({ steps: steps(world), answer: undefined }));
  for (;;) {
    const found = [];
    for (const { steps: begun, answer } of runs) found.push(await begun.next(answer));
    if (found[0].done !== found[1].done) throw new Error('the databases took different steps');
    if (found[0].done) return;
    const results = [];
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const { act, per = 1 } = found[index].value;
      if (round < 0) {
        const { answer, rows, pages } = await server.countReads(act);
        runs[index].answer = answer;
        results[index] = { rows: rows / per, pages: pages / per };
        continue;
      }
      const startedAt = performance.now();
      runs[index].answer = await act();
      results[index] = { ms: (performance.now() - startedAt) / per };
    }
    const { verb } = found[0].value;
    if (!verbs.has(verb)) verbs.set(verb, []);
    verbs.get(verb).push(results);
  }
}

function report(title, verbs) {
  console.log(`\n${title}\n`);
  console.log(
    '| verb | small ms | large ms | ratio | quartiles | rows, small | rows, large | pages, small | pages, large | |',
  );
  console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |');
  for (const [verb, rounds] of verbs) {
    const timed = rounds.filter(([{ ms }]) => ms !== undefined);
    const of = (index) => timed.map((pair) => pair[index].ms);
    const ratios = timed.map(([before, after]) => after.ms / before.ms);
    const counted = rounds.filter(([{ rows }]) => rows !== undefined);
    // The least of the rounds: beside some calls, the store checks in the background for jobs that it may have missed.
    const leastOf = (counter) => [0, 1].map((index) => Math.min(...counted.map((pair) => pair[index][counter])));
    const [before, after] = leastOf('rows');
    const counts = [before, after, ...leastOf('pages')];
    const isSlower = quantile(ratios, 0.25) > MOST;
    const readsMore = after > before * MOST + FURTHER_ROWS;
    if (isSlower || readsMore) process.exitCode = 1;
    const cells = [
      verb,
      ...[quantile(of(0), 0.5), quantile(of(1), 0.5)].map((ms) => ms.toPrecision(3)),
      quantile(ratios, 0.5).toFixed(2),
      `${quantile(ratios, 0.25).toFixed(2)}–${quantile(ratios, 0.75).toFixed(2)}`,
      ...counts.map((count) => (Number.isNaN(count) ? '' : Number(count.toFixed(1)))),
      [...(isSlower ? ['slower'] : []), ...(readsMore ? ['more rows'] : [])].join(', '),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function quantile(numbers, share) {
  return [...numbers].sort((a, b) => a - b)[Math.round((numbers.length - 1) * share)];
}

function seconds(startedAt) {
  return `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`;
}
