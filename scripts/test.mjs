// npm test [-- [--server mysql,mariadb,sqlite] [--long | --full] [files and arguments of Vitest...]]
// npm run golden [-- --server mysql,mariadb,sqlite]
//
// Without arguments for Vitest, runs the short tests: all but `*.long.spec.ts`, those of Nest 11 and those of further
// lines of OpenTelemetry. `--long` runs these, but tests that repeat their work for each statement on one server only, with
// one kind of failure at each, fewer races, and plans with two sizes of tables. `--full` makes no such exception.
// With arguments, Vitest chooses among all tests. `golden` runs the contract suites, and rewrites the golden files.
//
// The tests of the samples follow in Jest, with the short tests or if an argument is a part of their path. They need SQLite.
//
// Starts the database servers, runs Vitest on them and stops all it started, however the run ends. The output names
// servers that are not available, which is a failure with CI=true. The last line counts the tests of both runners.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { fail } from './build.mjs';
import { killGroup, ServerRun, serverKinds } from './databases/servers.mjs';
import { compareStatements, describeComparison, writeStatements } from './golden.mjs';
import { provideSqliteDriver } from './sqlite-driver.mjs';
import { onStopSignal } from './stop-signal.mjs';
import { databases as titles } from './supported.mjs';

const root = resolve(import.meta.dirname, '..');
const LINGER_MS = 60_000;
const COUNTS = ['numPassedTests', 'numFailedTests', 'numPendingTests', 'numTodoTests'];
const NO_RESULTS = { ...Object.fromEntries(COUNTS.map((name) => [name, 0])), testResults: [] };
const { wanted, set, isGolden, vitestArguments } = readArguments(process.argv.slice(2));
const run = await ServerRun.begin();
let runner;
let stopping = false;

onStopSignal(async (signal, exitCode) => {
  if (stopping) return;
  stopping = true;
  if (runner) killGroup(runner.pid);
  await run.end();
  process.exit(exitCode);
});

try {
  process.exitCode = await test();
} catch (error) {
  if (!stopping) fail(error);
} finally {
  await run.end();
}

async function test() {
  await provideSqliteDriver();
  const found = Object.fromEntries(await Promise.all(wanted.map(async (name) => [name, await find(name)])));
  const missing = wanted.filter((name) => found[name].reason);
  const hasSqlite = found.sqlite !== undefined && !found.sqlite.reason;

  const pool = run.file('databases');
  const statements = run.file('statements');
  await mkdir(pool);
  await mkdir(statements);
  const sampleTests = await chooseSampleTests();
  const databases = {
    SQL_QUEUE_TEST_MYSQL: found.mysql?.url,
    SQL_QUEUE_TEST_MYSQL_CLI: found.mysql?.client,
    SQL_QUEUE_TEST_MARIADB: found.mariadb?.url,
    SQL_QUEUE_TEST_MARIADB_CLI: found.mariadb?.client,
    SQL_QUEUE_TEST_POOL: pool,
    SQL_QUEUE_TEST_STATEMENTS: statements,
    SQL_QUEUE_TEST_SQLITE: hasSqlite ? 'on' : 'off',
  };
  const mayBeEmpty = vitestArguments.length > 0 && sampleTests.length > 0;
  const runs = [await runVitest(databases, mayBeEmpty)];
  if (hasSqlite && sampleTests.length > 0) runs.push(await runJest(sampleTests));
  const hasError = runs.some(({ code }) => code !== 0);
  const results = sumOf(runs.map((each) => each.results));

  await dropDatabases(pool, found);

  // A file may fail without a failed test: it does not load, or an error comes after its tests.
  const failedFiles = results.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const comparisons = isGolden ? [] : await compareStatements(statements, results.testResults);
  const failed =
    results.numFailedTests + failedFiles.length + comparisons.filter(({ hasChanged }) => hasChanged).length;
  const skipped = results.numPendingTests + results.numTodoTests;
  console.log();
  for (const name of missing) console.log(`not run: ${titles[name]} (${found[name].reason})`);
  for (const name of Object.keys(titles)) {
    if (!wanted.includes(name)) console.log(`not run: ${titles[name]} (left out by --server)`);
  }
  if (!hasSqlite && sampleTests.length > 0) console.log('not run: the tests of the samples in Jest (they need SQLite)');
  if (set === 'long' && vitestArguments.length === 0)
    console.log(
      'left to npm run test:full: cuts and kills at each statement on the second server, each kind of cut at each ' +
        'statement, more races, plans of more table sizes',
    );
  printPairs(results);
  for (const comparison of comparisons) console.log(describeComparison(comparison));
  if (isGolden) await rewriteGolden(statements, results);
  console.log(`${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`);

  const incomplete = missing.length > 0 && process.env.CI === 'true';
  const empty = results.numPassedTests + failed === 0;
  return hasError || failed > 0 || empty || incomplete ? 1 : 0;
}

async function rewriteGolden(statements, { testResults }) {
  const written = await writeStatements(statements, testResults);
  console.log(`golden files written for: ${written.join(', ') || 'no server, because a contract suite did not pass'}`);
}

/** Prints the results of the contract suites for each server and strategy. */
function printPairs({ testResults }) {
  const pairs = new Map();
  for (const { assertionResults } of testResults.filter((file) => file.name.includes('/test/contract/'))) {
    for (const { ancestorTitles, status } of assertionResults.filter((one) =>
      ['passed', 'failed'].includes(one.status),
    )) {
      const [, strategy, server] =
        /^.*?(?: by (optimistic|update|lock))? on (\w+)$/.exec(ancestorTitles[0] ?? '') ?? [];
      if (!server) continue;
      const pair = `${server} ${strategy ?? (server === 'sqlite' ? 'update' : 'skip-locked')}`;
      const counts = pairs.get(pair) ?? { passed: 0, failed: 0 };
      counts[status]++;
      pairs.set(pair, counts);
    }
  }
  for (const [pair, { passed, failed }] of [...pairs].sort(([a], [b]) => a.localeCompare(b))) {
    console.log(`contract, ${pair}: ${passed} passed, ${failed} failed`);
  }
}

async function find(name) {
  if (name in serverKinds) return run.server(name);
  try {
    const Database = createRequire(import.meta.url)('better-sqlite3');
    new Database(':memory:').close();
    return {};
  } catch (error) {
    return { reason: `better-sqlite3 does not load: ${error.message.split('\n')[0]}` };
  }
}

/** Runs Vitest. It may find no test if the arguments name tests of samples. */
function runVitest(env, mayBeEmpty) {
  const output = run.file('results.json');
  return runTests('Vitest', output, {
    args: [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${output}`,
      ...(mayBeEmpty ? ['--passWithNoTests'] : []),
      ...vitestArguments,
    ],
    mayBeEmpty,
    env: { ...env, ...(vitestArguments.length === 0 && { SQL_QUEUE_TEST_SET: set }) },
  });
}

/** Runs tests of samples in Jest. NestJS 12 is an ES module, which Jest loads with a flag of Node only. */
function runJest(files) {
  const output = run.file('jest.json');
  return runTests('Jest', output, {
    args: [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      'node_modules/jest/bin/jest.js',
      '--config=sample/jest.config.js',
      '--silent',
      '--json',
      `--outputFile=${output}`,
      '--runTestsByPath',
      ...files,
    ],
  });
}

/** The files of tests in `sample`: all with the short tests, else those that an argument is a part of. */
async function chooseSampleTests() {
  // scripts/model-faults.mjs runs a copy without samples.
  const names = await readdir(join(root, 'sample'), { recursive: true }).catch(() => []);
  const files = names.filter((name) => name.endsWith('.spec.ts')).map((name) => `sample/${name}`);
  if (vitestArguments.length === 0) return set === 'short' ? files.sort() : [];
  // The value after `-t` is a part of the names of tests.
  const parts = vitestArguments.filter((part, index) => !part.startsWith('-') && vitestArguments[index - 1] !== '-t');
  return files.filter((file) => parts.some((part) => file.includes(part)));
}

async function runTests(name, output, { args, env, mayBeEmpty = false }) {
  runner = run.spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  const over = new AbortController();
  const exit = once(runner, 'exit').finally(() => over.abort());
  endLingering(name, output, over.signal).catch(() => undefined);
  const [code] = await exit;
  if (mayBeEmpty && code === 0 && !existsSync(output)) return { code, results: NO_RESULTS };
  const results = await readFile(output, 'utf8').then(JSON.parse, () => {
    throw new Error(`${name} ended (${code ?? 'killed'}) without results\n0 passed, 1 failed, 0 skipped`);
  });
  return { code, results };
}

/** The results of two runners, which write the same format. */
function sumOf(all) {
  const sum = { ...NO_RESULTS, testResults: all.flatMap(({ testResults }) => testResults) };
  for (const results of all) for (const name of COUNTS) sum[name] += results[name];
  return sum;
}

/** Drops the databases that the test files shared, on servers that outlive the run. */
async function dropDatabases(pool, found) {
  for (const file of await readdir(pool)) {
    const [kind, name] = file.split('.');
    if (!process.env[serverKinds[kind].variable]) continue;
    const connection = await mysql.createConnection(found[kind].url);
    await connection.query(`DROP DATABASE IF EXISTS ${name}`);
    await connection.end();
  }
}

/** Kills a runner that does not end: a test that timed out may have left a handle that keeps it alive. */
async function endLingering(name, output, signal) {
  while (!existsSync(output)) await sleep(1_000, undefined, { signal });
  await sleep(LINGER_MS, undefined, { signal });
  console.error(`${name} has not ended a minute after its last test: a test left a handle open.`);
  killGroup(runner.pid);
}

function readArguments(args) {
  const vitestArguments = [];
  let wanted = Object.keys(titles);
  let set = 'short';
  let isGolden = false;
  for (let i = 0; i < args.length; i++) {
    const [option, value] = args[i].split('=');
    if (option === '--long' || option === '--full') {
      set = option.slice(2);
      continue;
    }
    if (option === '--golden') {
      isGolden = true;
      vitestArguments.push('test/contract');
      continue;
    }
    if (option !== '--server') {
      vitestArguments.push(args[i]);
      continue;
    }
    wanted = (value ?? args[++i] ?? '').split(',');
    const unknown = wanted.find((name) => !(name in titles));
    if (unknown !== undefined) {
      console.error(`--server: expected ${Object.keys(titles).join(', ')}, got "${unknown}"`);
      process.exit(2);
    }
  }
  return { wanted, set, isGolden, vitestArguments };
}
