// Checked by `npm run typecheck`, never run: the types of options.
import {
  SqlQueueModule,
  type Duration,
  type ProcessorOptions,
  type QueueOptions,
  type WorkerOptions,
} from 'nestjs-sql-queue';

export const durations: Duration[] = [0, 1_500, '500ms', '30s', '1.5m', '2h', '7d'];

// @ts-expect-error no such unit
export const weeks: Duration = '2w';
// @ts-expect-error a unit is missing
export const bare: Duration = '30';
// @ts-expect-error an amount is missing
export const seconds: Duration = 's';
// @ts-expect-error words
export const minutes: Duration = '5 min';

export const options: QueueOptions[] = [
  {},
  { retry: 3 },
  {
    retry: {
      attempts: 3,
      backoff: '1s',
      retryIf: (error: Error, attempt: number) => error.name !== 'X' && attempt < 2,
    },
  },
  { retry: { backoff: { type: 'exponential', delay: '1s', max: '10m', jitter: 0.2 } } },
  { retry: { backoff: (attempt) => (attempt > 3 ? false : `${attempt}s`) } },
  { timeout: false, retention: { completed: false, dead: '30d' }, prefetch: 'auto' },
  // @ts-expect-error no such option
  { leese: '30s' },
  // @ts-expect-error no such order
  { order: 'random' },
  // @ts-expect-error no such type
  { retry: { backoff: { type: 'linear' } } },
  // @ts-expect-error an option of the handler
  { batch: 10 },
];

export const processors: ProcessorOptions[] = [
  {},
  { batch: 100, concurrency: 2, lease: '1m' },
  // @ts-expect-error not a number
  { batch: '100' },
  // @ts-expect-error no such option
  { batches: 100 },
];

export const workers: WorkerOptions[] = [
  {
    autoStart: false,
    queues: { include: ['report.*'] },
    poll: { min: '50ms', max: 1_000 },
    shutdown: { timeout: '1m' },
  },
  // @ts-expect-error no such option
  { autostart: false },
];

export const modules = [
  SqlQueueModule.forRoot(),
  SqlQueueModule.forRoot({
    name: 'audit',
    prefix: 'audit_',
    worker: false,
    queues: { 'report.*': { concurrency: 1 } },
  }),
  SqlQueueModule.forRoot({ connection: { type: 'mysql', url: 'mysql://localhost/jobs' } }),
  SqlQueueModule.forRootAsync({ useFactory: async () => ({ worker: { concurrency: 5 } }) }),
  SqlQueueModule.forRootAsync({
    inject: [String],
    useFactory: (url: string) => ({ connection: { type: 'mariadb', url } }),
  }),
  SqlQueueModule.forFeature(['mail'], { instance: 'audit' }),
  // @ts-expect-error no such option
  SqlQueueModule.forRoot({ queue: {} }),
  // @ts-expect-error an option of the handler
  SqlQueueModule.forRoot({ queues: { mail: { batch: 10 } } }),
  // @ts-expect-error an option of the handler
  SqlQueueModule.forRoot({ defaults: { batch: 10 } }),
  // @ts-expect-error an option that decides a table cannot come from a factory
  SqlQueueModule.forRootAsync({ useFactory: () => ({ prefix: 'audit_' }) }),
];
