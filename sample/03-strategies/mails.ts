import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';

/** The tables of mails. A million mails do not slow the reports down. */
export const MAILS = { name: 'mails', prefix: 'sample_mail_' };

export const MAIL = 'mail.send';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    [MAIL]: { payload: { to: string }; result: void };
  }
}

@Injectable()
export class Mails {
  @QueueProcessor(MAIL, { instance: MAILS.name, batch: 20 })
  send(jobs: JobContext<{ to: string }>[]): void {
    for (const { payload } of jobs)
      if (!payload.to.includes('@')) throw new Error(`expected an address, got ${payload.to}`);
  }
}
