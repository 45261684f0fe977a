import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';
import type { UserCreated } from './signups.service.js';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'audit.log': { payload: UserCreated };
  }
}

/** Subscribes to every message about users. If its process is down, it receives the messages later. */
@Injectable()
export class AuditLog {
  @QueueProcessor('audit.log', { topic: 'user.*' })
  write({ headers, payload }: JobContext<UserCreated>): void {
    console.log(`  audit.log  ${headers.topic} ${payload.email}`);
  }
}
