// node scripts/recovery.mjs --url mysql://… [--workers 20] [--claim skip-locked] [--lease 30s]
//
// Kills worker processes with SIGKILL at random times between two heartbeats and prints how long their jobs take to
// start in another process. It creates its own tables and drops them. Run `npm run build` before.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { QueueProcessor, QueueProducer, SqlQueueModule, SqlQueueRunner } from '../dist/index.js';
import { connectionTo, dropTables } from './connection.mjs';

const PREFIX = 'sql_queue_recovery_';
const QUEUE = 'recovery';
const JOBS_EACH = 5;
// Leases are renewed every third of their length, so kills spread over that time with the default lease.
const KILLS_WITHIN_MS = 10_000;
const TIMEOUT_MS = 120_000;

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    workers: { type: 'string', default: '20' },
    claim: { type: 'string', default: 'skip-locked' },
    lease: { type: 'string', default: '30s' },
    // Set by this script for the processes that it kills.
    dying: { type: 'boolean', default: false },
  },
});
const { claim, lease } = values;
const connection = connectionTo(values.url);

await (values.dying ? keepJobsActive() : measure());

/** Runs a worker that never ends a job. */
async function keepJobsActive() {
  await boot(JOBS_EACH, {}, ({ id }) => {
    process.send(id);
    return new Promise(() => {});
  });
  process.on('disconnect', () => process.exit(1));
  process.send('ready');
}

async function measure() {
  const startedAt = new Map();
  const workers = Number(values.workers);
  const app = await boot(workers * JOBS_EACH, { autoStart: false }, ({ id }) => {
    startedAt.set(id, performance.now());
  });
  const dying = [];
  try {
    for (let i = 0; i < workers; i++) dying.push(await startDying());
    const jobs = Array.from({ length: workers * JOBS_EACH }, () => ({ payload: {} }));
    await app.get(QueueProducer).enqueueMany(QUEUE, jobs);
    await until('all jobs to be active', () => dying.every(({ activeIds }) => activeIds.length === JOBS_EACH));
    await app.get(SqlQueueRunner).start();
    await Promise.all(dying.map(killAfterRandomDelay));
    await until('all jobs to start again', () => startedAt.size === jobs.length);
    report(dying.flatMap(({ activeIds, killedAt }) => activeIds.map((id) => startedAt.get(id) - killedAt)));
  } finally {
    for (const { program } of dying) program.kill('SIGKILL');
    await app.close();
    await dropTables(connection, PREFIX);
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
  const activeIds = [];
  await once(program, 'message');
  program.on('message', (id) => activeIds.push(id));
  return { program, activeIds };
}

async function killAfterRandomDelay(worker) {
  await sleep(Math.random() * KILLS_WITHIN_MS);
  worker.killedAt = performance.now();
  worker.program.kill('SIGKILL');
}

async function until(condition, isMet) {
  const waitingSince = performance.now();
  while (!isMet()) {
    if (performance.now() - waitingSince > TIMEOUT_MS) throw new Error(`waited two minutes for ${condition}`);
    await sleep(10);
  }
}

function report(tookMs) {
  const sorted = tookMs.sort((a, b) => a - b);
  const seconds = (ms) => `${(ms / 1_000).toFixed(2)} s`;
  const [min, median, max] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map(seconds);
  console.log(
    `${connection.type}, ${claim}, lease ${lease}: ${sorted.length} jobs of ${values.workers} killed workers ` +
      `started in another process after ${min} to ${max}, median ${median}`,
  );
}
