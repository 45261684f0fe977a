// Graphile Worker. Tuned: the settings of its published performance figures. Its documentation recommends the local
// queue and batched completion for high throughput.

const defaults = {
  worker: { concurrentJobs: 10 },
  bulkChunk: 10_000,
};

const tuned = {
  env: { NO_LOG_SUCCESS: '1' },
  worker: {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
  bulkChunk: 10_000,
};

const common = {
  server: 'postgres',
  durable: true,
  packages: ['graphile-worker', 'pg'],
  program: () => import('./graphile-program.mjs'),
};

export const graphile = [
  { id: 'graphile', title: 'Graphile Worker', ...common, settings: { default: defaults, best: defaults } },
  { id: 'graphile-tuned', title: 'Graphile Worker, tuned', ...common, settings: { best: tuned } },
];
