import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from './database.js';
import { Invoice } from './invoice.entity.js';
import { Invoices } from './invoices.js';
import { Order } from './order.entity.js';
import { OrdersService } from './orders.service.js';
import { queues } from './queues.js';
import { Tables } from './tables.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...databaseOptions(process.env.DATABASE_URL), autoLoadEntities: true }),
    TypeOrmModule.forFeature([Order, Invoice]),
    // Started by hand, when the orders have been placed: on SQLite, TypeORM has one connection, and a transaction that
    // begins while another is open would be a part of it. On a server the two need not wait for each other.
    SqlQueueModule.forRoot({ queues, worker: { autoStart: false } }),
  ],
  providers: [Tables, OrdersService, Invoices],
})
export class AppModule {}
