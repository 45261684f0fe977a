import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { SqlQueueBoardModule } from 'nestjs-sql-queue/board';
import { SqlQueuePrometheusModule } from 'nestjs-sql-queue/prometheus';
import { SqlQueueTerminusModule } from 'nestjs-sql-queue/terminus';
import { register } from 'prom-client';
import { databaseOptions } from '../shared/database.js';
import { onStopSignal } from '../shared/stop-signal.js';
import { ObservationController } from './observation.controller.js';
import { TeamGuard } from './team.guard.js';
import { userOf, type TeamRequest } from './team-user.js';
import { Traffic } from './traffic.js';

@Module({
  imports: [
    SqlQueueModule.forRoot({ connection: databaseOptions('./operations.sqlite') }),
    SqlQueueBoardModule.forRoot({
      path: 'queues',
      guards: [TeamGuard],
      user: (request) => userOf(request as unknown as TeamRequest).name,
    }),
    SqlQueuePrometheusModule.forRoot({ registry: register }),
    TerminusModule,
    SqlQueueTerminusModule.forRoot(),
  ],
  controllers: [ObservationController],
  providers: [Traffic],
})
class ShopModule {}

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
