import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';
import type { UserCreated } from './signups.service.js';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'live.view': { payload: UserCreated };
  }
}

/** A temporary queue: it expires two seconds after its last process has ended. */
@Injectable()
export class LiveView {
  @QueueProcessor('live.view', { topic: '*', expiresAfter: '2s' })
  show({ payload }: JobContext<UserCreated>): void {
    console.log(`  live.view  ${payload.email}`);
  }
}
