// npm run path [-- mysql sqlite] [-- --list]
//
// Counts the files of lib that one plain job meets from the call of `enqueue` until its row is in the history: those of
// which V8 has run a part in that time, in a process that produces and works and has run other jobs before. Files that
// only declare constants or types do not count. Prints their lines, those of lib and, with --list, the files.
//
// The parts end when `enqueue` resolves, when the handler is called, and after the events of the job. The worker of the
// process may begin to claim before `enqueue` resolves, and it looks for a next job at the end.
import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { Session } from 'node:inspector';
import { join, relative, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { tsc } from './build.mjs';
import { ServerRun } from './databases/servers.mjs';

const root = resolve(import.meta.dirname, '..');
const PHASES = ['enqueue', 'claim and start', 'complete'];
const QUEUE = 'path';
const WARM_UP_JOBS = 3;
// A file counts if all of these jobs meet it: timers of the process meet other files, at other times.
const JOBS = 5;
// Afterwards neither the previous job nor its events keep the process busy.
const REST_MS = 300;

const { values, positionals } = parseArgs({ options: { list: { type: 'boolean' } }, allowPositionals: true });
const databases = positionals.length > 0 ? positionals : ['mysql', 'sqlite'];
const unknown = databases.filter((name) => !['mysql', 'mariadb', 'sqlite'].includes(name));
if (unknown.length > 0) throw new Error(`expected mysql, mariadb or sqlite, got ${unknown.join(', ')}`);

const lines = await linesOfLib();
const cache = join(root, 'node_modules', '.cache');
await mkdir(cache, { recursive: true });
// Within the package, so that the modules find their dependencies. V8 reports the real path of each file.
const compiled = await realpath(await mkdtemp(join(cache, 'job-path-')));
const run = await ServerRun.begin();
const session = new Session();
session.connect();
try {
  await tsc('-p', 'tsconfig.build.json', '--outDir', compiled, '--noCheck');
  send('Profiler.enable');
  send('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const library = await import(pathToFileURL(join(compiled, 'index.js')).href);
  for (const database of databases) report(database, await measure(database, library));
  console.log(`lib: ${lines.size} files, ${sumOf(lines.values())} lines`);
} finally {
  session.disconnect();
  await run.end();
  await rm(compiled, { recursive: true, force: true });
}

/** The phases of each file that all jobs meet, by the name of the file. */
async function measure(database, library) {
  const { connection, end } = await openDatabase(database);
  const other = await new DataSource(connection).initialize();
  const handled = [];
  const app = await NestFactory.createApplicationContext(
    applicationOf(library, connection, () => handled.shift()()),
    {
      logger: ['warn', 'error'],
    },
  );
  try {
    const producer = app.get(library.QueueProducer);
    const met = [];
    for (let job = 0; job < WARM_UP_JOBS + JOBS; job++) {
      await delay(REST_MS);
      const started = new Promise((start) => handled.push(() => start(takeFiles())));
      takeFiles();
      const { id } = await producer.enqueue(QUEUE, { to: 'ann' });
      const enqueue = takeFiles();
      const claim = await started;
      while (!(await isInHistory(other, id))) await delay(1);
      // The events of the job follow the commit that the other connection has seen.
      await delay(REST_MS);
      met.push([enqueue, claim, takeFiles()]);
    }
    const jobs = met.slice(WARM_UP_JOBS);
    const isIn = (file, phase) => jobs.some((phases) => phases[phase].has(file));
    const files = [...lines.keys()].filter((file) => jobs.every((phases) => phases.some((phase) => phase.has(file))));
    return new Map(files.map((file) => [file, PHASES.filter((_, phase) => isIn(file, phase))]));
  } finally {
    await app.close();
    await other.destroy();
    await end();
  }
}

/** A class with a handler, in the application of a user. */
function applicationOf({ QueueProcessor, SqlQueueModule }, connection, onJob) {
  class Handler {
    run() {
      onJob();
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Handler.prototype, 'run');
  QueueProcessor(QUEUE)(Handler.prototype, 'run', descriptor);
  class Application {}
  Module({ imports: [SqlQueueModule.forRoot({ connection })], providers: [Handler] })(Application);
  return Application;
}

async function openDatabase(kind) {
  if (kind === 'sqlite') {
    const connection = { type: 'better-sqlite3', database: join(compiled, 'jobs.sqlite') };
    return { connection, end: () => rm(connection.database, { force: true }) };
  }
  const { url, reason } = await run.server(kind);
  if (!url) throw new Error(`${kind}: ${reason}`);
  const name = `sql_queue_path_${process.pid}`;
  const server = await new DataSource({ type: kind, url }).initialize();
  await server.query(`CREATE DATABASE ${name}`);
  const end = async () => {
    await server.query(`DROP DATABASE ${name}`);
    await server.destroy();
  };
  return { connection: { type: kind, url: new URL(name, url).href }, end };
}

async function isInHistory(dataSource, id) {
  return (await dataSource.query(`SELECT 1 FROM sql_queue_history WHERE id = ${id}`)).length > 0;
}

/** The files of lib of which a part has run since the last call. */
function takeFiles() {
  const { result } = send('Profiler.takePreciseCoverage');
  const hasRun = ({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0));
  const ours = result.filter(({ url }) => url.startsWith(pathToFileURL(compiled).href));
  return new Set(ours.filter(hasRun).map(({ url }) => sourceOf(relative(compiled, fileURLToPath(url)))));
}

function sourceOf(file) {
  return join('lib', file.replace(/\.js$/, '.ts'));
}

/** The session of the same thread answers before `post` returns. */
function send(method, parameters) {
  let answer;
  session.post(method, parameters, (error, result) => {
    if (error) throw error;
    answer = result;
  });
  return answer;
}

function report(database, phasesByFile) {
  const files = [...phasesByFile.keys()];
  console.log(`${database}: ${files.length} files, ${linesOf(files)} lines`);
  for (const phase of PHASES) {
    const inPhase = files.filter((file) => phasesByFile.get(file).includes(phase));
    console.log(`  ${phase}: ${inPhase.length} files, ${linesOf(inPhase)} lines`);
  }
  if (!values.list) return;
  for (const [file, phases] of phasesByFile)
    console.log(`  ${String(lines.get(file)).padStart(4)} ${file}: ${phases.join(', ')}`);
}

function linesOf(files) {
  return sumOf(files.map((file) => lines.get(file)));
}

function sumOf(numbers) {
  return [...numbers].reduce((sum, number) => sum + number, 0);
}

/** The number of lines of each file, without those that the build writes. */
async function linesOfLib() {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'lib'], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = [...new Set(listed.trim().split('\n'))].filter((file) => existsSync(join(root, file)));
  const counted = files.map(async (file) => [file, (await readFile(join(root, file), 'utf8')).split('\n').length - 1]);
  return new Map((await Promise.all(counted)).sort(([a], [b]) => a.localeCompare(b)));
}
