// pg-boss. One by one: its defaults with the documented settings for low latency: LISTEN/NOTIFY, and bursts while the
// queue's statistics, updated every second, show a backlog. Without a backlog (quiet) only LISTEN/NOTIFY. In batches:
// the documented settings for throughput.

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
