import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from '../shared/database.js';
import { Invoice } from './invoice.entity.js';
import { Invoices } from './invoices.js';
import { Order } from './order.entity.js';
import { OrdersService } from './orders.service.js';
import { queues } from './queues.js';
import { Tables } from './tables.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...databaseOptions('./outbox.sqlite'), autoLoadEntities: true }),
    TypeOrmModule.forFeature([Order, Invoice]),
    // main.ts starts the worker after it has placed the orders. On SQLite, TypeORM has one connection, and concurrent
    // transactions would become one. On a server both could run at the same time.
    SqlQueueModule.forRoot({ queues, worker: { autoStart: false } }),
  ],
  providers: [Tables, OrdersService, Invoices],
})
export class AppModule {}
