import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { onStopSignal } from '../shared/stop-signal.js';
import { ShopModule } from './shop.module.js';
import { Traffic } from './traffic.js';

const stopping = onStopSignal();
const app = await NestFactory.create(ShopModule, { logger: ['fatal', 'error'] });
await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
const url = await app.getUrl();
console.log(`Board:        ${url}/queues (any name, password: TEAM_PASSWORD, default "team")
Metrics:      ${url}/metrics
Health:       ${url}/health/ready and ${url}/health/live
Command line: SQL_QUEUE_URL=${process.env.DATABASE_URL ? '"$DATABASE_URL"' : 'sqlite:operations.sqlite'} npx nestjs-sql-queue top`);

await app.get(Traffic).run(stopping);
await app.close();
