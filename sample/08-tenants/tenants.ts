import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';
import type { QueueOptions } from 'nestjs-sql-queue';

export interface Import {
  row: number;
}

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'import.row': { payload: Import };
  }
}

/** Of each tenant at most two rows at a time, in all processes. Every process of the application has these options. */
export const QUEUES: Record<string, QueueOptions> = { 'import.row': { concurrency: 4, groups: { concurrency: 2 } } };

@Injectable()
export class Imports {
  @QueueProcessor('import.row')
  async import(job: JobContext<Import>): Promise<void> {
    await setTimeout(10);
    // The API of this tenant asks for a pause. The other tenants go on.
    if (job.group === 'globex' && job.payload.row === 3 && job.createdAt.getTime() > Date.now() - 2_000)
      job.rateLimit('1s');
  }
}
