import 'reflect-metadata';
import { once } from 'node:events';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { AuditLog } from './audit-log.js';
import { CrmSync } from './crm-sync.js';
import { database } from './database.js';
import { LiveView } from './live-view.js';

const handlers = { 'crm.sync': CrmSync, 'audit.log': AuditLog, 'live.view': LiveView };

/** One consumer, in a process of its own: node consumer.js crm.sync */
@Module({
  // After a crash its jobs are taken up again two seconds later.
  imports: [SqlQueueModule.forRoot({ connection: database, defaults: { lease: '2s' } })],
  providers: [handlers[process.argv[2] as keyof typeof handlers]],
})
class ConsumerModule {}

// Ctrl-C reaches every process of the terminal: this one waits for the word of main.ts.
process.on('SIGINT', () => undefined);

// Main wants it to stop, or is gone.
const toldToLeave = once(process, 'disconnect');

const app = await NestFactory.createApplicationContext(ConsumerModule, { logger: ['fatal', 'error', 'warn'] });
if (process.connected) process.send?.('up');
await toldToLeave;
await app.close();
