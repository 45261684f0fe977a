// BullMQ. Its documentation calls 100 to 300 a standard concurrency for jobs that wait for I/O. It recommends to remove
// finished jobs, and on PostgreSQL a pool as large as the concurrency.

const defaults = {
  queue: {},
  worker: { concurrency: 10 },
  bulkChunk: 1_000,
};

const best = {
  queue: { defaultJobOptions: { removeOnComplete: true } },
  worker: { concurrency: 200 },
  bulkChunk: 1_000,
};

const history = { ...best, queue: {} };

const settings = { default: defaults, best, history };

const pooled = {
  default: { ...defaults, pool: { max: 10 } },
  best: { ...best, pool: { max: 40 } },
  history: { ...history, pool: { max: 40 } },
};

const modes = { off: 'no AOF', everysec: 'AOF everysec', always: 'AOF always' };

export const bullmq = [
  ...Object.entries(modes).map(([mode, note]) => ({
    id: `bullmq-redis-${mode === 'off' ? 'noaof' : mode}`,
    title: `BullMQ, Redis, ${note}`,
    server: `redis-${mode}`,
    durable: mode === 'always',
    packages: ['bullmq', 'ioredis'],
    settings,
    program: () => import('./bullmq-redis-program.mjs'),
  })),
  {
    id: 'bullmq-postgres',
    title: 'BullMQ, PostgreSQL',
    server: 'postgres',
    durable: true,
    packages: ['bullmq', 'pg'],
    settings: pooled,
    program: () => import('./bullmq-postgres-program.mjs'),
  },
];
