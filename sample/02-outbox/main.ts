import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { QueueAdmin, SqlQueueRunner } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { jobsLeft } from '../shared/jobs-left.js';
import { onStopSignal } from '../shared/stop-signal.js';
import { AppModule } from './app.module.js';
import { Invoice } from './invoice.entity.js';
import { Order } from './order.entity.js';
import { CreditError, OrdersService } from './orders.service.js';
import { INVOICE } from './queues.js';

const ORDERS = 60;

/** Places the orders that no earlier run has placed. Every tenth exceeds its customer's credit. */
async function placeOrders(app: INestApplicationContext, stopping: AbortSignal): Promise<void> {
  const orders = app.get(OrdersService);
  const counts = { placed: 0, refused: 0, before: 0 };
  for (let id = 1; id <= ORDERS && !stopping.aborted; id++) {
    if (await orders.isPlaced(id)) {
      counts.before++;
      continue;
    }
    try {
      await orders.place({ id, customer: `customer-${id}`, total: id % 10 === 0 ? 99_900 : 1_990 });
      counts.placed++;
    } catch (error) {
      if (!(error instanceof CreditError)) throw error;
      counts.refused++;
    }
  }
  console.log(`Orders: ${counts.placed} placed, ${counts.refused} refused, ${counts.before} placed before.`);
}

async function writeInvoices(app: INestApplicationContext, stopping: AbortSignal): Promise<void> {
  await app.get(SqlQueueRunner).start();
  while (!stopping.aborted && (await jobsLeft(app.get(QueueAdmin), INVOICE)) > 0) await setTimeout(50);
  await app.get(SqlQueueRunner).stop();
}

async function report(app: INestApplicationContext): Promise<void> {
  const { manager } = app.get(DataSource);
  const [orders, invoices] = [await manager.count(Order), await manager.find(Invoice)];
  const jobs = await jobsLeft(app.get(QueueAdmin), INVOICE);
  const invoiced = new Set(invoices.map(({ orderId }) => orderId)).size;
  console.log(
    `Stopped: ${orders} orders, ${invoiced} invoiced, ${invoices.length - invoiced} twice, ${jobs} jobs left.`,
  );
}

const stopping = onStopSignal();

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['fatal', 'error', 'warn'] });
try {
  await placeOrders(app, stopping);
  await writeInvoices(app, stopping);
  await report(app);
} finally {
  await app.close();
}
