import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueAdmin, SqlQueueModule } from 'nestjs-sql-queue';
import { DataSource, IsNull, Like, MoreThanOrEqual } from 'typeorm';
import { databaseOptions } from '../shared/database.js';
import { ForkedProcess } from '../shared/forked-process.js';
import { onStopSignal } from '../shared/stop-signal.js';
import { NEEDS_APPROVAL } from './order-workflow.js';
import { Order, OrderLog } from './order.entity.js';
import { OrdersService } from './orders.service.js';

const ORDERS = 6;

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...databaseOptions('./orders.sqlite'), entities: [Order, OrderLog], synchronize: true }),
    // This process only produces; the worker is a process of its own.
    SqlQueueModule.forRoot({ worker: false }),
  ],
  providers: [OrdersService],
})
class OrdersModule {}

const stopping = onStopSignal();
const app = await NestFactory.createApplicationContext(OrdersModule, { logger: ['fatal', 'error', 'warn'] });
const [admin, orders, dataSource] = [app.get(QueueAdmin), app.get(OrdersService), app.get(DataSource)];
const [repository, log] = [dataSource.getRepository(Order), dataSource.getRepository(OrderLog)];
let worker: ForkedProcess | undefined;

try {
  await run();
  await report();
} finally {
  await worker?.stop();
  await app.close();
}

async function run(): Promise<void> {
  const placed = await repository.count();
  for (let n = 1; n <= ORDERS; n++) await orders.place(placed + n, n % 2 ? 50 : NEEDS_APPROVAL);
  await startWorker();
  await until(async () => (await log.countBy({ entry: Like('charged%') })) >= placed + 2);
  if (stopping.aborted) return;
  await worker!.kill();
  console.log('\nThe worker is down (kill -9). Another one goes on after the last steps.');
  await startWorker();
  // Also those of an earlier start that was killed.
  const undecided = await repository.findBy({ approvedBy: IsNull(), amount: MoreThanOrEqual(NEEDS_APPROVAL) });
  for (const { id } of undecided) await orders.approve(id, 'ada');
  await until(async () => (await log.countBy({ entry: 'mailed' })) >= placed + ORDERS);
  await until(async () => (await admin.counts()).active === 0);
}

async function report(): Promise<void> {
  const count = async (entry: string) => log.countBy({ entry: Like(`${entry}%`) });
  const [reserved, charged] = [await count('reserved'), await count('charged')];
  const [shipped, mailed] = [await count('shipped'), await count('mailed')];
  console.log(`Stopped: ${reserved} reserved, ${charged} charged, ${shipped} shipped, ${mailed} mailed.`);
}

async function startWorker(): Promise<void> {
  if (!stopping.aborted) worker = await ForkedProcess.start(new URL('worker.js', import.meta.url));
}

/** Resolves when the condition is true, or at Ctrl-C. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!stopping.aborted && !(await isTrue())) await setTimeout(100);
}
