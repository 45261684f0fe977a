// pg-boss. One by one: its defaults, and what it documents against waiting: LISTEN/NOTIFY, and bursts while the
// statistics of the queue, taken every second, show a backlog. Where there is no backlog (quiet) only the former. In
// batches: what it documents for throughput.

const quiet = {
  boss: { useListenNotify: true },
  queue: { notify: true },
  work: { localConcurrency: 10 },
  bulkChunk: 10_000,
};

const one = {
  boss: { ...quiet.boss, monitorIntervalSeconds: 1, superviseIntervalSeconds: 1, queueCacheIntervalSeconds: 1 },
  queue: quiet.queue,
  work: { ...quiet.work, burstWhenReadyExceeds: 1, pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 },
  bulkChunk: 10_000,
};

const batch = {
  boss: { useListenNotify: true },
  queue: { notify: true },
  work: {
    batchSize: 1_000,
    localConcurrency: 2,
    pollingIntervalSeconds: 0.5,
    notifyPollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
  },
  bulkChunk: 10_000,
};

const common = {
  server: 'postgres',
  durable: true,
  packages: ['pg-boss', 'pg'],
  program: () => import('./pgboss-program.mjs'),
};

export const pgboss = [
  { id: 'pgboss', title: 'pg-boss', ...common, settings: { default: one, best: one, quiet } },
  { id: 'pgboss-batch', title: 'pg-boss, batches', ...common, settings: { best: batch, history: batch } },
];
