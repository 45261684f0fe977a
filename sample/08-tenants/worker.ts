import 'reflect-metadata';
import { once } from 'node:events';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from '../shared/database.js';
import { Imports, QUEUES } from './tenants.js';

@Module({
  imports: [
    // After a crash, another worker rescues the jobs after two seconds.
    SqlQueueModule.forRoot({
      connection: databaseOptions('./tenants.sqlite'),
      queues: QUEUES,
      defaults: { lease: '2s' },
    }),
  ],
  providers: [Imports],
})
class WorkerModule {}

// Ctrl-C reaches every process of the terminal, but only main.ts stops this one.
process.on('SIGINT', () => undefined);

// main.ts disconnects to stop this process, or has ended.
const disconnected = once(process, 'disconnect');

const app = await NestFactory.createApplicationContext(WorkerModule, { logger: ['fatal', 'error', 'warn'] });
// main.ts may have ended during the start.
if (process.connected) {
  process.send?.('up');
  await disconnected;
}
await app.close();
