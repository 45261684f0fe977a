import 'reflect-metadata';
import { once } from 'node:events';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from '../shared/database.js';
import { AuditLog } from './audit-log.js';
import { CrmSync } from './crm-sync.js';
import { LiveView } from './live-view.js';

const handlers = { 'crm.sync': CrmSync, 'audit.log': AuditLog, 'live.view': LiveView };

/** One consumer per process: node consumer.js crm.sync */
@Module({
  // After a crash, a worker rescues its jobs after two seconds.
  imports: [SqlQueueModule.forRoot({ connection: databaseOptions('./topics.sqlite'), defaults: { lease: '2s' } })],
  providers: [handlers[process.argv[2] as keyof typeof handlers]],
})
class ConsumerModule {}

// Ctrl-C reaches every process of the terminal, but only main.ts stops this one.
process.on('SIGINT', () => undefined);

// main.ts disconnects to stop this process, or has ended.
const disconnected = once(process, 'disconnect');

const app = await NestFactory.createApplicationContext(ConsumerModule, { logger: ['fatal', 'error', 'warn'] });
// main.ts may have ended during the start.
if (process.connected) {
  process.send?.('up');
  await disconnected;
}
await app.close();
