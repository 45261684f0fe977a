import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import * as Sentry from '@sentry/node';
import { QueueProducer, SqlQueueModule, SqlQueueRunner } from 'nestjs-sql-queue';
import { databaseOptions } from '../shared/database.js';
import { DogStatsd } from './dogstatsd.js';
import { Mails } from './mails.js';
import { SentryErrors } from './sentry-errors.js';

// Without a DSN, Sentry reports nothing. Without an agent, the metrics get lost.
Sentry.init({ dsn: process.env.SENTRY_DSN, defaultIntegrations: false });

@Module({
  imports: [
    SqlQueueModule.forRoot({
      connection: databaseOptions('./instrumentations.sqlite'),
      instrumentations: [new DogStatsd(Number(process.env.DD_DOGSTATSD_PORT ?? 8125)), new SentryErrors()],
    }),
  ],
  providers: [Mails],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['fatal', 'error'] });
const producer = app.get(QueueProducer);
const sent = await producer.enqueue('mail.send', { to: 'ann@example.com' });
const failed = await producer.enqueue('mail.send', { to: 'nowhere' });

await producer.waitFor(sent.id);
const { message } = await producer.waitFor(failed.id).then(notExpected, (error: Error) => error);
await app.get(SqlQueueRunner).whenIdle();

console.log(`Sent 1 mail. The other one failed: ${message}`);
await app.close();
await Sentry.flush();

function notExpected(): never {
  throw new Error('A mail without a valid address was sent.');
}
