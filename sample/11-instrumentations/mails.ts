import * as Sentry from '@sentry/node';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';

export class Mails {
  @QueueProcessor('mail.send', { retry: { attempts: 2, backoff: '100ms' } })
  async send(job: JobContext<{ to: string }>) {
    Sentry.addBreadcrumb({ category: 'mail', message: 'connected to the mail server' });
    if (!job.payload.to.includes('@')) throw new TypeError('The address has no @.');
  }
}
