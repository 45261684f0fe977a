// node scripts/pruning.mjs --url mysql://… [--rows 200000]
//
// Measures enqueue() with and without a concurrent prune of the history, in turns of a second, so that both share the
// noise. It creates its own tables and drops them. Run `npm run build` before.
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { QueueAdmin, QueueProducer, SqlQueueModule } from '../dist/index.js';
import { connectionTo, dropTables, versionOf } from './connection.mjs';

const TURN_MS = 1_000;
const ROUNDS = 10;
const PRODUCERS = 10;
const PREFIX = 'sql_queue_pruning_';

const { values } = parseArgs({ options: { url: { type: 'string' }, rows: { type: 'string', default: '200000' } } });
const connection = connectionTo(values.url);

class Application {}
Module({ imports: [SqlQueueModule.forRoot({ connection, prefix: PREFIX, worker: false })] })(Application);

const dataSource = await new DataSource(connection).initialize();
const app = await NestFactory.createApplicationContext(Application, { logger: ['warn', 'error'] });
try {
  const [producer, admin] = [app.get(QueueProducer), app.get(QueueAdmin)];
  const [alone, beside] = [[], []];
  let pruned = 0;
  let prunedMs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await fill(round, Number(values.rows) / ROUNDS);
    await enqueueForOneTurn(producer, []);
    await enqueueForOneTurn(producer, alone);
    const pruning = prune(admin);
    while (!pruning.isOver) await enqueueForOneTurn(producer, beside);
    pruned += await pruning.rows;
    prunedMs += pruning.tookMs;
    await enqueueForOneTurn(producer, []);
    await enqueueForOneTurn(producer, alone);
  }
  console.log(`${await versionOf(connection)}: ${pruned} rows in ${(prunedMs / 1_000).toFixed(1)} s`);
  for (const share of [0.5, 0.99]) {
    const [without, during] = [quantile(alone, share), quantile(beside, share)];
    const ratio = (during / without).toFixed(2);
    console.log(
      `enqueue p${share * 100}: ${without.toFixed(2)} ms alone, ${during.toFixed(2)} ms beside: ${ratio} times`,
    );
  }
  console.log(`longest: ${Math.max(...alone).toFixed(0)} ms alone, ${Math.max(...beside).toFixed(0)} ms beside`);
} finally {
  await app.close();
  await dataSource.destroy();
  await dropTables(connection, PREFIX);
}

/** Prunes without the pauses between a worker's batches. */
function prune(admin) {
  const startedAt = performance.now();
  const pruning = { isOver: false, tookMs: 0 };
  pruning.rows = admin.prune().finally(() => {
    pruning.tookMs = performance.now() - startedAt;
    pruning.isOver = true;
  });
  return pruning;
}

/** Each producer enqueues one job after the other for a second. */
async function enqueueForOneTurn(producer, latencies) {
  const end = performance.now() + TURN_MS;
  const produce = async () => {
    for (let startedAt = performance.now(); startedAt < end; startedAt = performance.now()) {
      await producer.enqueue('q', { to: 'ada@example.com' });
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: PRODUCERS }, produce));
}

/** Inserts expired jobs with payloads of 200 bytes. */
async function fill(round, rows) {
  for (let from = 0; from < rows; from += 1_000) {
    const tuples = Array.from(
      { length: Math.min(1_000, rows - from) },
      (_, n) => `(${1e12 + round * rows + from + n})`,
    );
    await dataSource.query(
      `INSERT INTO ${PREFIX}history
         (id, queue, name, state, priority, attempt, created_at, started_at, finished_at, expires_at, payload)
       SELECT id, 'q', 'default', 'completed', 0, 1, 0, 0, 0, 1, REPEAT('x', 200)
       FROM (${tuples.map((tuple, n) => `SELECT ${tuple.slice(1, -1)}${n ? '' : ' AS id'}`).join(' UNION ALL ')}) AS ids`,
    );
  }
}

function quantile(values, share) {
  return values.sort((a, b) => a - b)[Math.floor(values.length * share)];
}
