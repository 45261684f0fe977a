// node scripts/board/costs.mjs [--server mysql,mariadb] [--scale 1] [--rounds 5] [--pages errors,queue]
//
// Opens each page of the board in Chromium among 1.1 million unfinished and 1.1 million finished jobs. Prints the time until
// each page is usable, and the time until the server answers each read: beside the browser, as it measures, and alone. Median
// and greatest in milliseconds. The exit code is 1 if a page takes longer than 1 s, or a read alone longer than 50 ms. Run
// `npm run build` before.
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import mysql from 'mysql2/promise';
import { chromium } from 'playwright-core';
import { SqlQueueBoardModule } from '../../dist/board.js';
import { QueueSchedules, SqlQueueModule } from '../../dist/index.js';
import { findChromium } from '../browser/chromium.mjs';
import { ServerRun } from '../databases/servers.mjs';
import { FIRST_COMPLETED, FIRST_DEAD, seed } from '../lists/seed.mjs';

const DATABASE = 'sql_queue_board_costs';
const MAX_READ_MS = 50;
const MAX_PAGE_MS = 1_000;
// A busy machine takes many times as long.
const TIMEOUT_MS = 120_000;
const SCHEDULES = 200;
const ALONE_ROUNDS = 7;

const PAGES = {
  overview: '',
  jobs: 'jobs',
  'jobs of a queue': 'jobs?queue=large',
  'dead jobs': 'jobs?queue=large&state=dead&error=E3',
  'jobs by header': 'jobs?queue=large&header=tenant%3At42',
  queue: 'queue?queue=large',
  'queue with groups': 'queue?queue=grouped',
  'dead job': `job?id=${FIRST_DEAD + 10}`,
  'completed job': `job?id=${FIRST_COMPLETED}`,
  'waiting job': 'job?id=440000',
  errors: 'errors',
  flows: 'flow',
  'flow of 1000 jobs': 'flow?id=1',
  waits: 'waits',
  schedules: 'schedules',
  workers: 'workers',
  people: 'people?owner=person-8',
  topics: 'topics',
  audit: 'audit',
  'audit of a queue': 'audit?queue=large',
};

const text = { type: 'string' };
const { values } = parseArgs({
  options: {
    server: { ...text, default: 'mysql,mariadb' },
    scale: { ...text, default: '1' },
    rounds: { ...text, default: '5' },
    pages: { ...text, default: Object.keys(PAGES).join(',') },
  },
});

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
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  try {
    console.error(`${kind} ${version}: filling the tables …`);
    await seed((statement) => connection.query(statement), 'sql_queue_', Number(values.scale));
    const schedules = app.get(QueueSchedules, { strict: false });
    for (let n = 0; n < SCHEDULES; n++) await schedules.upsert(`s${n}`, { queue: `small-${n % 20}`, every: '1m' });
    report(`${kind} ${version}`, await timesOf(browser, `${await app.getUrl()}/queues`));
  } finally {
    await browser.close();
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
  await app.listen(0, '127.0.0.1');
  return app;
}

/** The times of the pages and of the reads by their names. The first visit of a page does not count. */
async function timesOf(browser, url) {
  const pages = new Map();
  const reads = new Map();
  const urls = new Map();
  for (const name of values.pages.split(','))
    for (let round = -1; round < Number(values.rounds); round++) {
      const visit = await visitOf(browser, url, PAGES[name]);
      if (round < 0) continue;
      add(pages, name, visit.usableMs);
      for (const [read, ms, address] of visit.reads) {
        add(reads, `${read} (${name})`, ms);
        urls.set(`${read} (${name})`, address);
      }
    }
  const alone = new Map();
  for (const [name, address] of urls)
    for (let round = 0; round < ALONE_ROUNDS; round++) add(alone, name, await readMs(address));
  return { pages, reads, alone };
}

async function readMs(address) {
  const startedAt = performance.now();
  const response = await fetch(address);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${address} answered with ${response.status}`);
  return performance.now() - startedAt;
}

/** Opens the page in an empty browser, and waits until it shows all its parts and the charts have been drawn. */
async function visitOf(browser, url, hash) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const reads = [];
  page.on('requestfinished', (request) => {
    const [, read] = /\/api\/(\w+)/.exec(request.url()) ?? [];
    const { requestStart, responseStart } = request.timing();
    if (read && read !== 'live') reads.push([read, responseStart - requestStart, request.url()]);
  });
  const startedAt = performance.now();
  await page.goto(`${url}#/${hash}`);
  await page.locator(`main[data-view="#/${hash}"] h1`).waitFor({ state: 'attached' });
  await page.locator('.live[data-state=live]:visible').waitFor();
  await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  const usableMs = performance.now() - startedAt;
  await context.close();
  return { usableMs, reads };
}

function add(times, name, ms) {
  if (!times.has(name)) times.set(name, []);
  times.get(name).push(ms);
}

function report(title, { pages, reads, alone }) {
  console.log(`\n${title}\n`);
  print('page until it is usable', pages, MAX_PAGE_MS);
  print('read beside the browser', slowestOf(reads), Infinity);
  print('read alone', slowestOf(alone), MAX_READ_MS);
}

/** One row for each read: the page on which it is slowest. */
function slowestOf(reads) {
  const slowest = new Map();
  for (const [name, times] of reads) {
    const [read] = name.split(' ');
    const known = slowest.get(read);
    if (!known || medianOf(times) > medianOf(known[1])) slowest.set(read, [name, times]);
  }
  return slowest.values();
}

function print(title, rows, most) {
  console.log(`| ${title} | times | median ms | max ms | |\n| --- | --: | --: | --: | --- |`);
  for (const [name, times] of rows) {
    const isSlow = medianOf(times) > most;
    if (isSlow) process.exitCode = 1;
    const cells = [name, times.length, medianOf(times).toFixed(0), Math.max(...times).toFixed(0)];
    console.log(`| ${[...cells, isSlow ? `above ${most}` : ''].join(' | ')} |`);
  }
  console.log('');
}

function medianOf(times) {
  return [...times].sort((a, b) => a - b)[times.length >> 1];
}
