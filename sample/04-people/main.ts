import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { QueueAdmin } from 'nestjs-sql-queue';
import { AppModule } from './app.module.js';
import { CHECK } from './queues.js';
import { TasksService } from './tasks.service.js';

const TITLES = ['A lake at dawn', 'Blurred bird', 'Two cats', 'A bridge in fog', 'Market day', 'Blurred train'];

const app = await NestFactory.create<NestExpressApplication>(AppModule, {
  logger: ['fatal', 'error', 'warn'],
  forceCloseConnections: true,
});
app.enableShutdownHooks();

const counts = await app.get(QueueAdmin).counts(CHECK);
if (Object.values(counts).every((count) => count === 0)) {
  for (const title of TITLES) await app.get(TasksService).add(title);
}

await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
console.log(`Open ${await app.getUrl()} in a browser, twice for two people. Ctrl-C ends the program.`);
