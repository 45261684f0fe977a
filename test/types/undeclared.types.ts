// Checked by `npm run typecheck`, never run: without declared queues every name, payload and handler compiles.
import { Injectable } from '@nestjs/common';
import {
  InjectQueue,
  JobContext,
  Queue,
  QueueProcessor,
  SqlQueueModule,
  type PayloadOf,
  type QueueName,
  type QueueOptions,
  type QueueProducer,
  type ResultOf,
} from 'nestjs-sql-queue';
import type { Equal, Expect } from './expect.js';

export type Undeclared = [
  Expect<Equal<QueueName, string>>,
  Expect<Equal<PayloadOf<'any'>, unknown>>,
  Expect<Equal<ResultOf<'any'>, unknown>>,
];

export async function enqueue(producer: QueueProducer, anyQueue: string, queue: Queue): Promise<void> {
  await producer.enqueue('any', { any: 'thing' });
  await producer.enqueue(anyQueue, undefined);
  await producer.enqueueMany(anyQueue, [{ payload: 1 }, { payload: 'two' }]);
  await queue.enqueue({ any: 'thing' });
}

export const modules = (queues: Record<string, QueueOptions>, name: string) => [
  SqlQueueModule.forRoot({ queues }),
  SqlQueueModule.forRoot({ queues: { any: {}, 'prefix.*': { concurrency: 2 }, [name]: {} } }),
  SqlQueueModule.forFeature([name]),
];

@Injectable()
export class Handlers {
  constructor(
    @InjectQueue('any') readonly any: Queue<'any'>,
    @InjectQueue('other') readonly other: Queue,
    @InjectQueue('faked') readonly faked: { enqueue(payload: unknown): Promise<unknown> },
  ) {}

  @QueueProcessor('any')
  one(job: JobContext<{ to: string }, number>) {
    return job.payload.to.length;
  }

  @QueueProcessor('any', { batch: 10 })
  many(jobs: JobContext<{ to: string }>[]) {
    return jobs.length;
  }
}
