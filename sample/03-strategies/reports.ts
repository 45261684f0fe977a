import { setTimeout } from 'node:timers/promises';
import { Injectable, type Type } from '@nestjs/common';
import { JobContext, QueueProcessor, type QueueOptions } from 'nestjs-sql-queue';

export type ClaimStrategy = Exclude<NonNullable<QueueOptions['claim']>, 'auto'>;

/** The tables of reports: an instance of the module with its own name and prefix. */
export const REPORTS = { name: 'reports', prefix: 'sample_report_' };

interface Report {
  payload: { month: number };
  result: string;
}

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'report.skip-locked': Report;
    'report.lock': Report;
    'report.optimistic': Report;
    'report.update': Report;
  }
}

export const reportQueue = (strategy: ClaimStrategy) => `report.${strategy}` as const;

/** A handler for the queue of a strategy. The strategy does not affect the handler's code. */
export function reportsBy(strategy: ClaimStrategy): Type {
  @Injectable()
  class Reports {
    @QueueProcessor(reportQueue(strategy), { instance: REPORTS.name, claim: strategy })
    async write(job: JobContext<{ month: number }>): Promise<string> {
      await setTimeout(2);
      return `report of month ${job.payload.month}`;
    }
  }
  return Reports;
}
