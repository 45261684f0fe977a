// The main program, started by run.mjs.
import { ServerRun } from '../../scripts/databases/servers.mjs';
import { onStopSignal } from '../../scripts/stop-signal.mjs';
import { compareAll } from './compare.mjs';
import { installLibrary, prepareSqlite, versionsOf } from './library.mjs';
import { describeMachine } from './machine.mjs';
import { readOptions, USAGE, UsageError } from './options.mjs';
import { Results } from './results.mjs';
import { measureAll } from './round-robin.mjs';
import { figuresOf } from '../report/figures.mjs';
import { scenarioTable } from '../report/tables.mjs';
import { writeReport } from '../report/write.mjs';
import { Servers } from '../servers/servers.mjs';

const options = (() => {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    return fail(error);
  }
})();
if (options.help) {
  console.log(USAGE);
  process.exit();
}

const run = await ServerRun.begin();
const servers = new Servers(run);
const stopping = new AbortController();
onStopSignal(async (signal, exitCode) => {
  if (stopping.signal.aborted) return;
  stopping.abort();
  console.error(`stopping (${signal})`);
  await servers.stop();
  await run.end();
  process.exit(exitCode);
});

try {
  await (options.base ? compare() : measure());
  await servers.close();
} catch (error) {
  if (!stopping.signal.aborted) console.error(error);
  process.exitCode = 1;
}
// A run that was stopped by a signal is ended by the signal's handler.
if (!stopping.signal.aborted) {
  await run.end();
  process.exit();
}

async function measure() {
  const library = await installLibrary(options.library);
  if (options.contestants.some(({ server }) => server === 'sqlite')) await prepareSqlite();
  const results = await Results.read();
  results.data.machine = describeMachine(run.file('sync'));
  for (const { id, packages, ...contestant } of options.contestants) {
    const { title, ours, variant, baseline, durable, settings } = contestant;
    const versions = await versionsOf(packages);
    const more = ours ? { library } : {};
    results.data.contestants[id] = { title, ours, variant, baseline, durable, settings, versions, ...more };
  }
  await measureAll({ run, servers, options, results, stopping: stopping.signal });
  await results.write({ tidy: true });
  for (const scenario of options.scenarios) {
    const figures = figuresOf(results.data, scenario);
    if (figures.length > 0) console.log(`\n${scenario.title}\n\n${scenarioTable(scenario, figures)}\n`);
  }
  console.log(`wrote ${await writeReport(results.data)}`);
}

async function compare() {
  await installLibrary(options.library, options.base);
  if (options.contestants.some(({ server }) => server === 'sqlite')) await prepareSqlite();
  if (!(await compareAll({ run, servers, options, stopping: stopping.signal }))) process.exitCode = 1;
}

function fail(error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exit(2);
}
