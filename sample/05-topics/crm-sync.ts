import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';
import type { UserCreated } from './signups.service.js';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'crm.sync': { payload: UserCreated };
  }
}

/** Subscribes to users of one region. For other regions no copy is stored. */
@Injectable()
export class CrmSync {
  @QueueProcessor('crm.sync', { topic: 'user.created', where: { region: 'eu' } })
  sync({ payload }: JobContext<UserCreated>): void {
    console.log(`  crm.sync   ${payload.email}`);
  }
}
