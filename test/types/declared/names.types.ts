// Checked by `npm run typecheck`, never run: undeclared queue names do not compile.
import { applyDecorators, Injectable, UseGuards } from '@nestjs/common';
import {
  InjectQueue,
  JobContext,
  OnQueueEvent,
  Queue,
  QueueProcessor,
  SqlQueueModule,
  type QueueName,
  type QueueOptions,
  type QueueOptionsByName,
  type QueueProducer,
} from 'nestjs-sql-queue';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'types.named': { payload: { to: string }; result: string };
    'types.other': { payload: { from: string } };
    // For queues with names from run time.
    [plugin: `plugin.${string}`]: { payload: { plugin: string } };
  }
}

export async function enqueue(producer: QueueProducer, name: string, fromConfig: string): Promise<void> {
  await producer.enqueue('types.named', { to: 'ada' });
  // @ts-expect-error misspelt
  await producer.enqueue('types.nmaed', { to: 'ada' });
  // @ts-expect-error misspelt
  await producer.enqueueMany('types.nmaed', [{ payload: { to: 'ada' } }]);
  // @ts-expect-error misspelt
  await producer.request('types.nmaed', { to: 'ada' });
  // @ts-expect-error may be misspelt
  await producer.enqueue(fromConfig, { to: 'ada' });
  await producer.enqueue(fromConfig as QueueName, { to: 'ada' });

  await producer.enqueue(`plugin.${name}`, { plugin: name });
  // @ts-expect-error the payload of the pattern has another type
  await producer.enqueue(`plugin.${name}`, { to: name });
}

export const byName = (fromConfig: Record<string, QueueOptions>): QueueOptionsByName[] => [
  { 'types.named': { concurrency: 2 }, 'types.*': {}, 'plugin.mail': {}, '*': {} },
  fromConfig,
  // @ts-expect-error misspelt
  { 'types.nmaed': { concurrency: 2 } },
  // @ts-expect-error no such option
  { 'types.*': { concurency: 2 } },
];

export const modules = [
  SqlQueueModule.forRoot({ queues: { 'types.named': {}, 'types.*': {} }, defaults: { deadLetter: 'types.other' } }),
  SqlQueueModule.forRoot({ worker: { queues: { include: ['types.named', 'plugin.*'] } } }),
  SqlQueueModule.forFeature(['types.named', 'plugin.mail']),
  SqlQueueModule.forFeature('types.named'),
  SqlQueueModule.forFeature({ name: 'types.named', maxWaiting: 10 }),
  SqlQueueModule.forFeature(['types.named', { name: 'types.other', concurrency: 2 }], { instance: 'audit' }),
  // @ts-expect-error misspelt
  SqlQueueModule.forRoot({ queues: { 'types.nmaed': {} } }),
  // @ts-expect-error misspelt
  SqlQueueModule.forRoot({ defaults: { deadLetter: 'types.ohter' } }),
  // @ts-expect-error misspelt
  SqlQueueModule.forRoot({ worker: { queues: { include: ['types.nmaed'] } } }),
  // @ts-expect-error misspelt
  SqlQueueModule.forFeature(['types.nmaed']),
  // @ts-expect-error misspelt
  SqlQueueModule.forFeature({ name: 'types.nmaed' }),
  // @ts-expect-error no such option
  SqlQueueModule.forFeature({ name: 'types.named', atempts: 2 }),
];

@Injectable()
export class Named {
  @InjectQueue('types.named')
  readonly property!: Queue<'types.named'>;

  // @ts-expect-error a handle of another queue
  @InjectQueue('types.named')
  readonly wrong!: Queue<'types.other'>;

  constructor(
    @InjectQueue('types.named') readonly named: Queue<'types.named'>,
    @InjectQueue('plugin.mail') private readonly plugin: Queue<'plugin.mail'>,
    @InjectQueue('types.named') readonly faked: { enqueue(payload: { to: string }): Promise<unknown> },
    // @ts-expect-error misspelt
    @InjectQueue('types.nmaed') readonly misspelt: Queue<'types.named'>,
    // @ts-expect-error a handle of another queue
    @InjectQueue('types.named') readonly other: Queue<'types.other'>,
  ) {}

  async handles(): Promise<void> {
    await this.named.enqueue({ to: 'ada' });
    await this.plugin.enqueueMany([{ payload: { plugin: 'mail' } }]);
    const answer: string = await this.named.request({ to: 'ada' });
    void answer;
    // @ts-expect-error the payload of another queue
    await this.named.enqueue({ from: 'ada' });
    // @ts-expect-error a result of another type
    const length: number = await this.named.request({ to: 'ada' });
    void length;
  }

  // @ts-expect-error misspelt
  @QueueProcessor('types.nmaed')
  misspeltHandler() {}

  // @ts-expect-error misspelt
  @OnQueueEvent('dead', { queue: 'types.nmaed' })
  misspeltListener() {}
}

export class Payloads {
  @QueueProcessor('types.named')
  right(job: JobContext<{ to: string }>) {
    return job.payload.to;
  }

  @QueueProcessor('types.named')
  withoutPayload(job: JobContext) {
    return String(job.id);
  }

  @QueueProcessor('plugin.mail')
  pattern(job: JobContext<{ plugin: string }>) {
    return job.payload.plugin;
  }

  // @ts-expect-error the payload of another queue
  @QueueProcessor('types.named')
  wrong(job: JobContext<{ from: string }>) {
    return job.payload.from;
  }

  // @ts-expect-error a property that the payload does not have
  @QueueProcessor('types.named')
  more(job: JobContext<{ to: string; subject: string }>) {
    return job.payload.subject;
  }

  // @ts-expect-error one job per call
  @QueueProcessor('types.named')
  many(jobs: JobContext<{ to: string }>[]) {
    return jobs.length;
  }

  // @ts-expect-error many jobs per call
  @QueueProcessor('types.named', { batch: 10 })
  one(job: JobContext<{ to: string }>) {
    return job.payload.to;
  }

  // @ts-expect-error the payload of another queue
  @QueueProcessor('types.named', { batch: 10 })
  wrongBatch(jobs: JobContext<{ from: string }>[]) {
    return jobs.length;
  }

  // @ts-expect-error no such option
  @QueueProcessor('types.named', { batches: 10 })
  wrongOption() {}
}

export const composed = () => applyDecorators(QueueProcessor('types.named', { concurrency: 2 }), UseGuards());

@QueueProcessor('types.named')
export class RightClass {
  handle(job: JobContext<{ to: string }>) {
    return job.payload.to;
  }
}

// @ts-expect-error the payload of another queue
@QueueProcessor('types.named')
export class WrongClass {
  handle(job: JobContext<{ from: string }>) {
    return job.payload.from;
  }
}

// @ts-expect-error many jobs per call
@QueueProcessor('types.named', { batch: 10 })
export class WrongBatchClass {
  handle(job: JobContext<{ to: string }>) {
    return job.payload.to;
  }
}
