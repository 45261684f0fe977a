// node scripts/flow-costs.mjs --url mysql://… [--rounds 12] [--children 10000]
//
// Compares a flow of many jobs before one with the same jobs without a flow: the time from the first statement until the
// last job has ended. The four cases, with and without results, take turns. It creates its own tables and drops them. Run
// `npm run build` before, and measure on a server whose commits are durable.
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { QueueProducer, SqlQueueModule, SqlQueueRunner } from '../dist/index.js';
import { connectionTo, dropTables, versionOf } from './connection.mjs';
import { describeQuartiles } from './quartiles.mjs';

const PREFIX = 'sql_queue_flow_costs_';
const RESULT = { url: 'https://example.com/part', size: 1_234 };

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    rounds: { type: 'string', default: '12' },
    children: { type: 'string', default: '10000' },
  },
});
const connection = connectionTo(values.url);
const children = Number(values.children);

class Application {}
Module({
  imports: [
    SqlQueueModule.forRoot({
      connection,
      prefix: PREFIX,
      defaults: { concurrency: 100 },
      worker: { autoStart: false },
    }),
  ],
})(Application);

const app = await NestFactory.createApplicationContext(Application, { logger: ['warn', 'error'] });
try {
  const [producer, runner] = [app.get(QueueProducer), app.get(SqlQueueRunner)];
  let onLast;
  await runner.handle('plain', {}, () => undefined);
  await runner.handle('result', {}, () => RESULT);
  await runner.handle('last', {}, () => onLast());
  await runner.start();
  const cases = ['plain', 'result'].map((queue) => ({ queue, ratios: [] }));
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const { queue, ratios } of cases) {
      const withoutMs = await timed(async () => {
        await producer.enqueueMany(queue, parts());
        await runner.whenIdle();
        await last(() => producer.enqueue('last', 0));
      });
      const withMs = await timed(() =>
        last(() =>
          producer.flow((flow) => void flow.add('last', 0, { after: flow.addMany(queue, Array(children).fill(0)) })),
        ),
      );
      // The first round warms up.
      if (round > 0) ratios.push(withMs / withoutMs);
    }
  }
  console.log(
    `${await versionOf(connection)}: ${children} jobs before one, as a multiple of the same jobs without a flow`,
  );
  for (const { queue, ratios } of cases)
    console.log(`${queue === 'plain' ? 'without' : 'with'} results: ${describeQuartiles(ratios)}`);

  function last(enqueue) {
    return new Promise((resolve, reject) => {
      onLast = resolve;
      enqueue().catch(reject);
    });
  }
} finally {
  await app.close();
  await dropTables(connection, PREFIX);
}

function parts() {
  return Array.from({ length: children }, () => ({ payload: 0 }));
}

async function timed(act) {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}
