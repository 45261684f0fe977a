import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueAdmin, QueueSchedules, SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from '../shared/database.js';
import { ForkedProcess } from '../shared/forked-process.js';
import { onStopSignal } from '../shared/stop-signal.js';
import { Tenant } from './tenant.entity.js';
import { TenantsService } from './tenants.service.js';

const REPORTS = 20;

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...databaseOptions('./schedules.sqlite'), entities: [Tenant], synchronize: true }),
    // This process only stores schedules; the workers are separate processes.
    SqlQueueModule.forRoot({ worker: false }),
  ],
  providers: [TenantsService],
})
class TenantsModule {}

const stopping = onStopSignal();
const app = await NestFactory.createApplicationContext(TenantsModule, { logger: ['fatal', 'error', 'warn'] });
const [admin, schedules, tenants] = [app.get(QueueAdmin), app.get(QueueSchedules), app.get(TenantsService)];
const workers: ForkedProcess[] = [];

try {
  await run();
  console.log(`Stopped: ${(await admin.counts('report.build')).completed} reports, one for each tick.`);
} finally {
  await Promise.all(workers.map((worker) => worker.stop()));
  await app.close();
}

async function run(): Promise<void> {
  const before = (await admin.counts('report.build')).completed;
  await tenants.add('acme', '*/3 * * * * *');
  await tenants.add('globex', '1-59/4 * * * * *');
  const times = schedules.preview({ cron: '30 2 * * *', tz: 'Europe/Berlin' }, 2, new Date('2027-03-27T12:00Z'));
  console.log(
    `2:30 in Berlin, across the change to summer time: ${times.map((time) => time.toISOString()).join(', ')}`,
  );
  for (let n = 0; n < 2; n++) await startWorker();
  for (const { name, nextAt } of await schedules.list()) console.log(`${name}: next at ${nextAt?.toISOString()}`);

  await untilBuilt(before + REPORTS / 2);
  if (stopping.aborted) return;
  await workers.pop()!.kill();
  console.log('\nOne worker is down (kill -9).');
  await untilBuilt(before + REPORTS);
}

async function startWorker(): Promise<void> {
  if (!stopping.aborted) workers.push(await ForkedProcess.start(new URL('worker.js', import.meta.url)));
}

/** Resolves when that many reports are built, or at Ctrl-C. */
async function untilBuilt(reports: number): Promise<void> {
  while (!stopping.aborted && (await admin.counts('report.build')).completed < reports) await setTimeout(100);
}
