// node scripts/lists.mjs [--server mysql,mariadb] [--scale 1] [--rounds 15] [--only TEXT] [--all]
//
// Measures how long the lists of the board and of the command take among 1.1 million unfinished and 1.1 million finished
// jobs, through HTTP or as the command does, and a sample of the statistics. Prints the least, the median and the greatest time
// of each page in milliseconds; without --all only pages whose maximum is above 10 ms. The exit code is 1 if a median is above
// 50 ms, or above 150 ms for a sample. Run `npm run build` before.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import mysql from 'mysql2/promise';
import { SqlQueueBoardModule } from '../dist/board.js';
import { SqlQueueModule } from '../dist/index.js';
import { compileCode } from './build.mjs';
import { ServerRun } from './databases/servers.mjs';
import { readsOf } from './lists/reads.mjs';
import { seed } from './lists/seed.mjs';

const PREFIX = 'sql_queue_';
const DATABASE = 'sql_queue_lists';
const MAX_LIST_MS = 50;
const MAX_SAMPLE_MS = 150;
const SHOWN_MS = 10;
const WARM_UPS = 3;
const SAMPLES = 10;

const text = { type: 'string' };
const { values } = parseArgs({
  options: {
    server: { ...text, default: 'mysql,mariadb' },
    scale: { ...text, default: '1' },
    rounds: { ...text, default: '15' },
    only: text,
    all: { type: 'boolean' },
  },
});

// The package does not export these. In the repository the modules find its packages.
const internals = resolve(import.meta.dirname, '../build/lists');
await compileCode(internals);
const { CallOptions } = await import(join(internals, 'extras/cli/command.js'));
const { COMMANDS } = await import(join(internals, 'extras/cli/commands.js'));
const { Output } = await import(join(internals, 'extras/cli/output.js'));
const { cursorOf } = await import(join(internals, 'job/page-options.js'));
const { getEngineToken } = await import(join(internals, 'nest/tokens.js'));

const run = await ServerRun.begin();
try {
  for (const kind of values.server.split(',')) await measure(kind);
} finally {
  await run.end();
}

async function measure(kind) {
  const { url, reason } = await run.server(kind);
  if (!url) throw new Error(reason);
  const connection = await mysql.createConnection(url);
  await connection.query(`DROP DATABASE IF EXISTS ${DATABASE}`);
  await connection.query(`CREATE DATABASE ${DATABASE}`);
  await connection.query(`USE ${DATABASE}`);
  const [[{ version }]] = await connection.query('SELECT VERSION() AS version');
  const app = await open({ type: kind, url: `${url.replace(/\/$/, '')}/${DATABASE}` });
  try {
    console.error(`${kind} ${version}: filling the tables …`);
    await seed((statement) => connection.query(statement), PREFIX, Number(values.scale));
    const reads = readsOf(await idsIn(connection), Number(values.scale), cursorOf);
    report(`${kind} ${version}`, await timesOf(app, reads));
  } finally {
    await app.close();
    await connection.query(`DROP DATABASE ${DATABASE}`);
    await connection.end();
  }
}

async function open(connection) {
  class AppModule {}
  const imports = [
    SqlQueueModule.forRoot({ connection, worker: false }),
    SqlQueueBoardModule.forRoot({ path: 'queues', can: () => true }),
  ];
  const app = await NestFactory.create({ module: AppModule, imports }, { logger: ['warn', 'error'] });
  return app.listen(0, '127.0.0.1').then(() => app);
}

async function idsIn(connection) {
  const one = async (sql) => Number((await connection.query(sql))[0][0].id);
  const newest = await one(`SELECT MAX(id) AS id FROM ${PREFIX}jobs`);
  return { newest, middle: await one(`SELECT MIN(id) AS id FROM ${PREFIX}jobs WHERE id >= ${newest / 2}`) };
}

async function timesOf(app, reads) {
  const url = await app.getUrl();
  const engine = app.get(getEngineToken(), { strict: false });
  const rows = [];
  // The statistics have a sample, as in a running application.
  await engine.admin.stats();
  for (const { title, page, board, cli } of reads.filter((one) => one.title.includes(values.only ?? ''))) {
    const read = board ? () => request(url, board) : () => command(engine, cli);
    rows.push({ title, page, ...(await time(read, Number(values.rounds))), most: MAX_LIST_MS });
  }
  const sample = await time(async () => void (await engine.stores.stats.takeSample()), SAMPLES);
  return [...rows, { title: 'sample of the statistics', page: 'all queues', ...sample, most: MAX_SAMPLE_MS }];
}

async function request(url, [path, query]) {
  const response = await fetch(`${url}/queues/api/${path}?${new URLSearchParams(query)}`);
  const body = await response.text();
  if (!response.ok) throw new Error(`${path} ${JSON.stringify(query)}: ${response.status} ${body}`);
  const { jobs, entries } = JSON.parse(body);
  return (jobs ?? entries)?.length;
}

async function command(engine, [name, args, options]) {
  const output = new Output(false, () => {});
  await COMMANDS[name].run({ engine, args, options: new CallOptions(options), output });
}

async function time(read, rounds) {
  const times = [];
  let entries;
  for (let round = -WARM_UPS; round < rounds; round++) {
    const startedAt = performance.now();
    entries = await read();
    if (round >= 0) times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return { entries, min: times[0], median: times[times.length >> 1], max: times.at(-1) };
}

function report(title, rows) {
  const shown = rows.filter(({ max, median, most }) => values.all || max > SHOWN_MS || median > most);
  console.log(`\n${title}: ${rows.length} pages, ${rows.length - shown.length} of them below ${SHOWN_MS} ms\n`);
  console.log('| list | page | entries | min ms | median ms | max ms | |\n| --- | --- | --: | --: | --: | --: | --- |');
  for (const { title: list, page, entries, min, median, max, most } of shown) {
    const isSlow = median > most;
    if (isSlow) process.exitCode = 1;
    const cells = [
      list,
      page,
      entries ?? '',
      ...[min, median, max].map((ms) => ms.toFixed(1)),
      isSlow ? `above ${most}` : '',
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
