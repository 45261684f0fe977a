import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { QueueAdmin, QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from '../shared/database.js';
import { ForkedProcess } from '../shared/forked-process.js';
import { onStopSignal } from '../shared/stop-signal.js';
import { QUEUES } from './tenants.js';

/** The first tenant is there first, with many rows. */
const ROWS: Readonly<Record<string, number>> = { acme: 1200, globex: 12, initech: 12, umbrella: 12 };
const BAR_LENGTH = 30;

@Module({
  // This process only enqueues; the workers are separate processes.
  imports: [SqlQueueModule.forRoot({ connection: databaseOptions('./tenants.sqlite'), queues: QUEUES, worker: false })],
})
class TenantsModule {}

const stopping = onStopSignal();
const app = await NestFactory.createApplicationContext(TenantsModule, { logger: ['fatal', 'error', 'warn'] });
const [admin, producer] = [app.get(QueueAdmin), app.get(QueueProducer)];
const workers: ForkedProcess[] = [];

try {
  await run();
  console.log(`Stopped: ${(await admin.counts('import.row')).completed} rows imported.`);
} finally {
  await Promise.all(workers.map((worker) => worker.stop()));
  await app.close();
}

async function run(): Promise<void> {
  const { waiting, scheduled, active } = await admin.counts('import.row');
  const left = waiting + scheduled + active;
  if (left === 0) {
    const jobs = Object.entries(ROWS).flatMap(([tenant, rows]) =>
      Array.from({ length: rows }, (_, row) => ({ payload: { row }, options: { group: tenant } })),
    );
    await producer.enqueueMany('import.row', jobs);
    console.log(`${jobs.length} rows to import.`);
  } else {
    console.log(`${left} rows are left from the last start.`);
  }
  for (let n = 0; n < 2; n++) await startWorker();

  const small = Object.keys(ROWS).filter((tenant) => tenant !== 'acme');
  await until(async () => (await showAll()).every(({ tenant, open }) => tenant === 'acme' || open === 0));
  if (stopping.aborted) return;
  console.log(`\n${small.join(', ')} are done, and acme has ${await openOf('acme')} rows left.`);
  await workers.pop()!.kill();
  console.log('One worker is down (kill -9).');
  await admin.group('import.row', 'acme').limit({ concurrency: 4 });
  console.log('acme has the workers for itself, and may import four rows at a time.\n');
  await until(async () => (await showAll()).every(({ open }) => open === 0));
}

async function startWorker(): Promise<void> {
  if (!stopping.aborted) workers.push(await ForkedProcess.start(new URL('worker.js', import.meta.url)));
}

async function openOf(tenant: string): Promise<number> {
  const { waiting, scheduled, active } = await admin.group('import.row', tenant).counts();
  return waiting + scheduled + active;
}

/** Prints a bar for each tenant. */
async function showAll(): Promise<{ tenant: string; open: number }[]> {
  const all: { tenant: string; open: number }[] = [];
  for (const tenant of Object.keys(ROWS)) all.push({ tenant, open: await openOf(tenant) });
  const bars = all.map(({ tenant, open }) => {
    const done = Math.floor((BAR_LENGTH * (ROWS[tenant]! - open)) / ROWS[tenant]!);
    return `${tenant} ${'#'.repeat(done).padEnd(BAR_LENGTH, '.')} ${open}`;
  });
  console.log(bars.join('   '));
  return all;
}

/** Resolves when the condition holds, or at Ctrl-C. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!stopping.aborted && !(await condition())) await setTimeout(250);
}
