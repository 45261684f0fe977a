import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { SqlQueueBoardModule } from 'nestjs-sql-queue/board';
import { SqlQueuePrometheusModule } from 'nestjs-sql-queue/prometheus';
import { SqlQueueTerminusModule } from 'nestjs-sql-queue/terminus';
import { register } from 'prom-client';
import { databaseOptions } from '../shared/database.js';
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
export class ShopModule {}
