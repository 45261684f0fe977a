import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor, type PayloadOf, type ResultOf } from 'nestjs-sql-queue';
import { setTimeout } from 'node:timers/promises';
import { CHECK } from './queues.js';

/** Works beside people: it claims unassigned photos that do not wait for a review. */
@Injectable()
export class PhotoChecker {
  @QueueProcessor(CHECK, { concurrency: 1, prefetch: 0, retry: 20 })
  async check({ payload, signal }: JobContext<PayloadOf<typeof CHECK>>): Promise<ResultOf<typeof CHECK>> {
    await setTimeout(500, undefined, { signal });
    return { verdict: /blurred/i.test(payload.title) ? 'refused' : 'fine', by: 'code' };
  }
}
