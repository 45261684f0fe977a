// This library, used as in an application: a Nest module, a provider with @QueueProcessor, an application context.

const defaults = {
  module: {},
  processor: { concurrency: 10 },
  bulkChunk: 10_000,
};

const best = {
  module: { defaults: { retention: { completed: false } } },
  processor: { batch: 100, concurrency: 10, prefetch: 1_000 },
  bulkChunk: 10_000,
};

// Batches with the default retention, to measure the cost of a long history.
const history = { ...best, module: {} };

// Jobs that take 30 ms, so that the waiting process waits before they end.
const waits = { ...defaults, handlerMs: 30 };

const titles = { mysql: 'MySQL', mariadb: 'MariaDB', sqlite: 'SQLite' };

const common = ['nestjs-sql-queue', '@nestjs/core', 'typeorm'];
const packages = {
  mysql: [...common, 'mysql2'],
  mariadb: [...common, 'mysql2'],
  sqlite: [...common, 'better-sqlite3'],
};

export const ours = Object.entries(titles).flatMap(([server, title]) => [
  {
    id: `ours-${server}`,
    title: `nestjs-sql-queue, ${title}`,
    server,
    ours: true,
    packages: packages[server],
    settings: { default: defaults, best, history, waits },
    durable: true,
    program: () => import('./ours-program.mjs'),
  },
  {
    id: `ours-${server}-polling`,
    title: `nestjs-sql-queue, ${title}, notifications off`,
    server,
    ours: true,
    durable: true,
    variant: true,
    only: ['latency-idle', 'idle-1'],
    packages: packages[server],
    settings: { default: { ...defaults, module: { worker: { notify: false } } } },
    program: () => import('./ours-program.mjs'),
  },
]);
