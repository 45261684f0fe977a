// node scripts/payload-costs.mjs --url mysql://… [--sizes 10kb,50kb,1mb] [--rounds 5]
//
// Measures what payloads of several sizes cost: as they are, compressed, and as blobs in a folder. All take turns in each
// round. It creates its own tables and drops them. The CPU time of the server is shown if it runs on this machine and its
// process can be read. Run `npm run build` before, and measure on a server whose commits are durable.
import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import zlib from 'node:zlib';
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { compress, fileBlobs, QueueProducer, SqlQueueModule, SqlQueueRunner } from '../dist/index.js';
import { cpuSeconds } from '../bench/core/cpu-meter.mjs';
import { payloadOf } from '../bench/core/payload.mjs';
import { connectionTo, dropTables, versionOf } from './connection.mjs';

const PREFIX = 'sql_queue_payload_costs_';
const UNITS = { kb: 1_000, mb: 1_000_000 };
// Of one turn, and of one call of enqueueMany.
const TURN_BYTES = 20_000_000;
const CALL_BYTES = 5_000_000;

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    sizes: { type: 'string', default: '10kb,50kb,1mb' },
    rounds: { type: 'string', default: '5' },
  },
});
const connection = connectionTo(values.url);
const sizes = values.sizes.split(',');
const folder = await mkdtemp(join(tmpdir(), 'payload-costs-'));
const ways = {
  plain: {},
  gzip: { codec: compress({ algorithm: 'gzip' }) },
  brotli: { codec: compress({ algorithm: 'brotli' }) },
  ...('zstdCompressSync' in zlib && { zstd: { codec: compress({ algorithm: 'zstd' }) } }),
  blob: { blobs: { over: '4kb', store: fileBlobs({ folder }) } },
};

const dataSource = await new DataSource(connection).initialize();
const serverPid = await pidOfServer();
const apps = new Map();
try {
  for (const [way, options] of Object.entries(ways)) apps.set(way, await boot(options));
  const turns = new Map();
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const size of sizes) {
      for (const way of apps.keys()) {
        const turn = await measure(apps.get(way), bytesOf(size));
        const key = `${size} ${way}`;
        // The first round warms up.
        if (round > 0) turns.set(key, [...(turns.get(key) ?? []), turn]);
      }
    }
  }
  console.log(await versionOf(connection));
  print(turns);
} finally {
  for (const app of apps.values()) await app.close();
  await dataSource.destroy();
  await dropTables(connection, PREFIX);
  await rm(folder, { recursive: true });
}

function boot(options) {
  class Application {}
  Module({
    imports: [
      SqlQueueModule.forRoot({
        ...{ connection, prefix: PREFIX, ...options, worker: { autoStart: false } },
        defaults: { retention: { completed: false } },
      }),
    ],
  })(Application);
  return NestFactory.createApplicationContext(Application, { logger: ['warn', 'error'] });
}

/** Enqueues jobs and drains them. Returns the costs of one job. */
async function measure(app, bytes) {
  const [producer, runner] = [app.get(QueueProducer), app.get(SqlQueueRunner)];
  const count = Math.max(20, Math.floor(TURN_BYTES / bytes));
  const perCall = Math.max(1, Math.floor(CALL_BYTES / bytes));
  const payloads = Array.from({ length: count }, (_, index) => ({ payload: payloadOf(index, bytes) }));
  const enqueue = await costsOf(count, async () => {
    for (let from = 0; from < count; from += perCall)
      await producer.enqueueMany('q', payloads.slice(from, from + perCall));
  });
  const [{ bytes: stored }] = await dataSource.query(`SELECT AVG(LENGTH(payload)) AS bytes FROM ${PREFIX}jobs`);
  let left = count;
  let onEnd;
  const ended = new Promise((resolve) => (onEnd = resolve));
  const remove = await runner.handle('q', { batch: 20, concurrency: 5, prefetch: 100 }, (jobs) => {
    left -= jobs.length;
    if (left === 0) onEnd();
  });
  const drain = await costsOf(count, async () => {
    await runner.start();
    await ended;
    await runner.whenIdle();
  });
  await runner.stop();
  await remove();
  return { stored: Number(stored), enqueue, drain };
}

async function costsOf(count, act) {
  const before = await usage();
  await act();
  const after = await usage();
  return Object.fromEntries(Object.keys(before).map((key) => [key, (after[key] - before[key]) / count]));
}

/** Wall time and CPU times in milliseconds, and bytes of the redo log and the binary log. */
async function usage() {
  const status = await dataSource.query(
    `SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_os_log_written', 'Binlog_bytes_written')`,
  );
  const { user, system } = process.cpuUsage();
  return {
    ms: performance.now(),
    client: (user + system) / 1_000,
    server: serverPid === undefined ? NaN : cpuSeconds(serverPid) * 1_000,
    log: status.reduce((sum, { Value }) => sum + Number(Value), 0) + (await binaryLogBytes()),
  };
}

/** Of MySQL, which has no status for it. */
async function binaryLogBytes() {
  if (connection.type !== 'mysql') return 0;
  const logs = await dataSource.query('SHOW BINARY LOGS').catch(() => []);
  return logs.reduce((sum, { File_size: bytes }) => sum + Number(bytes), 0);
}

async function pidOfServer() {
  const [{ file }] = await dataSource.query('SELECT @@pid_file AS file');
  const pid = Number(await readFile(file, 'utf8').catch(() => NaN));
  return cpuSeconds(pid) > 0 ? pid : undefined;
}

function bytesOf(size) {
  const [, number, unit] = /^(\d+)(kb|mb)$/.exec(size) ?? [];
  if (!number) throw new Error(`expected --sizes such as 10kb,1mb, got ${size}`);
  return Number(number) * UNITS[unit];
}

/** The median over the rounds of each cost. Rates are multiples of those of the plain payloads in the same round. */
function print(turns) {
  const rows = [...turns].map(([key, ofKey]) => {
    const [size, way] = key.split(' ');
    const plain = turns.get(`${size} plain`);
    const ratio = (step) => median(ofKey.map((turn, round) => plain[round][step].ms / turn[step].ms)).toFixed(2);
    const cost = (step, what) => median(ofKey.map((turn) => turn[step][what]));
    const both = (what) => (cost('enqueue', what) + cost('drain', what)).toFixed(2);
    return {
      size,
      way,
      'stored kB': (median(ofKey.map(({ stored }) => stored)) / 1_000).toFixed(1),
      'enqueue, times plain': ratio('enqueue'),
      'drain, times plain': ratio('drain'),
      'client ms': both('client'),
      'server ms': both('server'),
      'log kB': ((cost('enqueue', 'log') + cost('drain', 'log')) / 1_000).toFixed(1),
    };
  });
  console.table(rows);
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
