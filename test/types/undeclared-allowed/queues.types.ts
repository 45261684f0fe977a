// Checked by `npm run typecheck`, never run: an index signature allows undeclared queues and keeps the types of others.
import { Injectable } from '@nestjs/common';
import { InjectQueue, JobContext, Queue, QueueProcessor, SqlQueueModule, type QueueProducer } from 'nestjs-sql-queue';
import type { Equal, Expect } from '../expect.js';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'types.mail': { payload: { to: string }; result: { messageId: string } };
    [undeclared: string]: { payload: unknown; result?: unknown };
  }
}

export async function produce(producer: QueueProducer) {
  await producer.enqueue('types.mail', { to: 'ada' });
  // @ts-expect-error the declared payload has another type
  await producer.enqueue('types.mail', { url: 'ada' });
  await producer.enqueue('types.other', { anything: 1 });
  const reply = await producer.request('types.mail', { to: 'ada' });
  void ([] as unknown as [Expect<Equal<typeof reply, { messageId: string }>>]);
}

@Injectable()
export class Handlers {
  constructor(
    @InjectQueue('types.mail') readonly mails: Queue<'types.mail'>,
    @InjectQueue('types.other') readonly others: Queue<'types.other'>,
  ) {}

  @QueueProcessor('types.mail')
  deliver({ payload }: JobContext<{ to: string }>) {
    return { messageId: payload.to };
  }

  // @ts-expect-error the declared payload has another type
  @QueueProcessor('types.mail')
  wrong({ payload }: JobContext<{ url: string }>) {
    return { messageId: payload.url };
  }

  @QueueProcessor('types.other')
  other({ payload }: JobContext<{ url: string }>) {
    return payload.url;
  }
}

export const queueModule = SqlQueueModule.forRoot({ queues: { 'types.mail': {}, 'types.other': {} } });
