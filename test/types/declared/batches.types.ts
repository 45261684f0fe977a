// Checked by `npm run typecheck`, never run: the types of batch handlers.
import { Injectable } from '@nestjs/common';
import {
  JobContext,
  JobCtx,
  JobHandler,
  JobHeader,
  JobPayload,
  JobSignal,
  QueueProcessor,
  type PayloadOf,
  type ResultOf,
} from 'nestjs-sql-queue';
import type { Equal, Expect } from '../expect.js';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'types.click': { payload: { url: string }; result: number };
    'types.anything': { payload: unknown };
  }
}

type Click = JobContext<PayloadOf<'types.click'>, ResultOf<'types.click'>>;

@Injectable()
export class Clicks {
  @QueueProcessor('types.click', { batch: 100, concurrency: 2 })
  async count(jobs: JobContext<{ url: string }>[]): Promise<void> {
    await Promise.all(jobs.map(({ payload }) => Promise.resolve(payload.url)));
  }

  @QueueProcessor('types.click', { batch: 100 })
  each(jobs: Click[]): Promise<PromiseSettledResult<number>[]> {
    return Promise.allSettled(jobs.map((job) => this.one(job)));
  }

  @QueueProcessor('types.anything', { batch: 10 })
  kept(jobs: readonly JobContext[]) {
    return jobs.map(({ id }) => ({ status: 'fulfilled' as const, value: id }));
  }

  @QueueProcessor('types.click', { batch: 10 })
  async transactions(jobs: Click[]) {
    for (const job of jobs) {
      const result = await job.transaction(() => Promise.resolve(1));
      // @ts-expect-error the declared result has another type
      await job.transaction(() => Promise.resolve('one'));
      void ([] as unknown as [Expect<Equal<typeof result, number>>]);
    }
  }

  private one({ payload }: Click): Promise<number> {
    // @ts-expect-error the payload has no such property
    void payload.link;
    return Promise.resolve(payload.url.length);
  }
}

@QueueProcessor('types.click', { batch: 100 })
export class ByClass {
  @JobHandler('parameters')
  parameters(
    @JobPayload() payloads: { url: string }[],
    @JobCtx() jobs: JobContext<{ url: string }>[],
    @JobHeader('trace') traces: (string | undefined)[],
    @JobHeader() headers: Record<string, string>[],
    @JobSignal() signals: AbortSignal[],
  ) {
    return [
      payloads.map(({ url }) => url),
      jobs.map(({ id }) => id),
      traces,
      headers,
      signals.map((one) => one.aborted),
    ];
  }

  @JobHandler()
  others(jobs: JobContext[]) {
    return jobs.length;
  }

  // @ts-expect-error a size is a number
  @QueueProcessor('types.click', { batch: 'all' })
  wrong() {}
}
