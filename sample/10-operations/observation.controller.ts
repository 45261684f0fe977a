import { Controller, Get, Header } from '@nestjs/common';
import { HealthCheck, HealthCheckService } from '@nestjs/terminus';
import { SqlQueueHealthIndicator } from 'nestjs-sql-queue/terminus';
import { register } from 'prom-client';

/** For Prometheus and for the platform that runs the process. */
@Controller()
export class ObservationController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly queue: SqlQueueHealthIndicator,
  ) {}

  @Get('metrics')
  @Header('content-type', register.contentType)
  metrics(): Promise<string> {
    return register.metrics();
  }

  @Get('health/ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.queue.check('queue', { maxLag: '5m' })]);
  }

  @Get('health/live')
  @HealthCheck()
  live() {
    return this.health.check([() => this.queue.checkLiveness('queue')]);
  }
}
