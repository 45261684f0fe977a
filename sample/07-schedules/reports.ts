import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor, Schedule } from 'nestjs-sql-queue';

export interface Report {
  tenant?: string;
}

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'report.build': { payload: Report };
  }
}

/** Builds a report at each tick: for all tenants every two seconds, and for each tenant at its own times. */
@Injectable()
export class Reports {
  @QueueProcessor('report.build')
  @Schedule('report-of-all', { every: '2s' })
  build({ payload, schedule }: JobContext<Report>): void {
    const time = schedule?.at.toISOString().slice(11, 19);
    console.log(`  process ${process.pid}: ${time} ${schedule?.name} (${payload.tenant ?? 'all tenants'})`);
  }
}
