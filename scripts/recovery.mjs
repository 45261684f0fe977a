// node scripts/recovery.mjs --url mysql://… [--workers 20] [--claim skip-locked] [--lease 30s]: kills worker processes with SIGKILL,
// at any moment between two renewals of their leases, and says when their jobs began in another process. In tables of its own,
// which it drops. Build first.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import {
  QueueProcessor,
  QueueProducer,
  SqlQueueModule,
  SqlQueueRunner,
  sqlQueueMigrations,
} from '../dist/esm/index.js';
import { connectionTo } from './connection.mjs';

const PREFIX = 'sql_queue_recovery_';
const QUEUE = 'recovery';
const JOBS_EACH = 5;
// A lease is renewed each third of it; under a lock there is nothing that all kills could fall together with.
const KILLS_WITHIN_MS = 10_000;
const IS_OVER_AFTER_MS = 120_000;

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    workers: { type: 'string', default: '20' },
    claim: { type: 'string', default: 'skip-locked' },
    lease: { type: 'string', default: '30s' },
    // What this program tells the processes that it is going to kill.
    dying: { type: 'boolean', default: false },
  },
});
const { claim, lease } = values;
const connection = connectionTo(values.url);

await (values.dying ? holdJobs() : measure());

/** A worker that never ends a job. */
async function holdJobs() {
  await boot(JOBS_EACH, {}, ({ id }) => {
    process.send(id);
    return new Promise(() => {});
  });
  process.on('disconnect', () => process.exit(1));
  process.send('ready');
}

async function measure() {
  const beganAt = new Map();
  const workers = Number(values.workers);
  const app = await boot(workers * JOBS_EACH, { autoStart: false }, ({ id }) => {
    beganAt.set(id, performance.now());
  });
  const dying = [];
  try {
    for (let i = 0; i < workers; i++) dying.push(await startDying());
    const jobs = Array.from({ length: workers * JOBS_EACH }, () => ({ payload: {} }));
    await app.get(QueueProducer).enqueueMany(QUEUE, jobs);
    await until('all jobs to be held', () => dying.every(({ held }) => held.length === JOBS_EACH));
    await app.get(SqlQueueRunner).start();
    await Promise.all(dying.map(killSometime));
    await until('all jobs to begin again', () => beganAt.size === jobs.length);
    report(dying.flatMap(({ held, killedAt }) => held.map((id) => beganAt.get(id) - killedAt)));
  } finally {
    for (const { program } of dying) program.kill('SIGKILL');
    await app.close();
    await dropTables();
  }
}

function boot(concurrency, worker, handle) {
  class Handlers {
    run(job) {
      return handle(job);
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Handlers.prototype, 'run');
  QueueProcessor(QUEUE, { claim, lease, concurrency })(Handlers.prototype, 'run', descriptor);
  Injectable()(Handlers);
  class Application {}
  const imports = [SqlQueueModule.forRoot({ connection, prefix: PREFIX, worker })];
  Module({ imports, providers: [Handlers] })(Application);
  return NestFactory.createApplicationContext(Application, { logger: ['error'] });
}

async function startDying() {
  const program = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), '--dying']);
  const held = [];
  await once(program, 'message');
  program.on('message', (id) => held.push(id));
  return { program, held };
}

async function killSometime(worker) {
  await sleep(Math.random() * KILLS_WITHIN_MS);
  worker.killedAt = performance.now();
  worker.program.kill('SIGKILL');
}

async function until(what, isSo) {
  const from = performance.now();
  while (!isSo()) {
    if (performance.now() - from > IS_OVER_AFTER_MS) throw new Error(`waited two minutes for ${what}`);
    await sleep(10);
  }
}

function report(tookMs) {
  const sorted = tookMs.sort((a, b) => a - b);
  const seconds = (ms) => `${(ms / 1_000).toFixed(2)} s`;
  const [least, middle, most] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map(seconds);
  console.log(
    `${connection.type}, ${claim}, lease ${lease}: ${sorted.length} jobs of ${values.workers} killed workers ` +
      `began elsewhere after ${least} to ${most}, ${middle} in the middle`,
  );
}

async function dropTables() {
  const dataSource = await new DataSource(connection).initialize();
  const runner = dataSource.createQueryRunner();
  for (const Migration of sqlQueueMigrations({ prefix: PREFIX }).reverse()) await new Migration().down(runner);
  await runner.release();
  await dataSource.destroy();
}
