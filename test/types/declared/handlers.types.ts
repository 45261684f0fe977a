// Checked by `npm run typecheck`, never run. isolatedModules and emitDecoratorMetadata are on, as in a project of `nest
// new`: the parameter type of a decorated method must be a class.
import { Injectable } from '@nestjs/common';
import {
  InjectQueue,
  JobContext,
  JobCtx,
  JobHandler,
  JobHeader,
  JobPayload,
  JobSignal,
  OnQueueEvent,
  Queue,
  QueueProcessor,
  type PayloadOf,
  type QueueEvent,
  type ResultOf,
} from 'nestjs-sql-queue';
import type { Equal, Expect } from '../expect.js';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'types.handled': { payload: { to: string }; result: { messageId: string } };
  }
}

type Handled = JobContext<PayloadOf<'types.handled'>, ResultOf<'types.handled'>>;

@Injectable()
export class Handlers {
  constructor(@InjectQueue('types.handled') readonly queue: Queue<'types.handled'>) {}

  @QueueProcessor('types.handled', { concurrency: 2 })
  async handle(job: JobContext<PayloadOf<'types.handled'>, ResultOf<'types.handled'>>) {
    return job.transaction(async (manager) => {
      await manager.query('SELECT 1');
      return { messageId: job.payload.to };
    });
  }

  @JobHandler('other')
  async parameters(
    @JobPayload() payload: { to: string },
    @JobCtx() job: JobContext<{ to: string }>,
    @JobHeader('trace') trace: string | undefined,
    @JobSignal() signal: AbortSignal,
  ) {
    return [payload, job.id, trace, signal.aborted];
  }

  @OnQueueEvent('completed', { queue: 'types.handled' })
  @OnQueueEvent('dead')
  listen(event: QueueEvent) {
    return event.jobId;
  }

  // @ts-expect-error no such event
  @OnQueueEvent('complete')
  wrong() {}
}

@QueueProcessor('types.handled')
export class ByClass {
  handle(job: JobContext<{ to: string }>): string {
    return job.payload.to;
  }
}

export async function contexts(plain: JobContext, typed: JobContext<{ to: string }>, full: Handled): Promise<void> {
  const value = await plain.transaction(() => Promise.resolve(5));
  const result = await full.transaction(() => Promise.resolve({ messageId: 'x' }));
  // @ts-expect-error the declared result has another type
  await full.transaction(() => Promise.resolve({ messageId: 1 }));
  // @ts-expect-error the payload has no such property
  void typed.payload.from;
  // @ts-expect-error the payload is read-only
  typed.payload = { to: 'bob' };

  void ([] as unknown as [
    Expect<Equal<typeof value, number>>,
    Expect<Equal<typeof result, { messageId: string }>>,
    Expect<Equal<typeof plain.payload, unknown>>,
    Expect<Equal<typeof typed.payload, { to: string }>>,
    Expect<Equal<ReturnType<typeof full.release>, never>>,
    Expect<Equal<ReturnType<typeof full.snooze>, never>>,
    Expect<Equal<ReturnType<typeof full.discard>, never>>,
  ]);
}
