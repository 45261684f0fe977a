import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';
import type { UserCreated } from './signups.service.js';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'audit.log': { payload: UserCreated };
  }
}

/** Must not miss anything, so it subscribes to all that is ever said of users, and gets it later where it was down. */
@Injectable()
export class AuditLog {
  @QueueProcessor('audit.log', { topic: 'user.*' })
  write({ headers, payload }: JobContext<UserCreated>): void {
    console.log(`  audit.log  ${headers.topic} ${payload.email}`);
  }
}
