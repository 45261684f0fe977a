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

// For the scenario `observation`.
const withMetrics = { ...best, observe: { metrics: true } };
const withEverything = { ...best, observe: { metrics: true, telemetry: true, logs: true } };

const titles = { mysql: 'MySQL', mariadb: 'MariaDB', sqlite: 'SQLite' };

const common = ['nestjs-sql-queue', '@nestjs/core', 'typeorm'];
const packages = {
  mysql: [...common, 'mysql2'],
  mariadb: [...common, 'mysql2'],
  sqlite: [...common, 'better-sqlite3'],
};

const perServer = Object.entries(titles).flatMap(([server, title]) => [
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

const observed = [
  { id: 'metrics', title: 'Prometheus', settings: withMetrics },
  { id: 'everything', title: 'Prometheus, OpenTelemetry and JSON logs', settings: withEverything },
];

export const ours = [
  ...perServer,
  ...observed.map(({ id, title, settings }) => ({
    id: `ours-mysql-${id}`,
    title: `nestjs-sql-queue, MySQL, with ${title}`,
    server: 'mysql',
    ours: true,
    durable: true,
    variant: true,
    only: ['observation'],
    packages: [...packages.mysql, 'prom-client', '@opentelemetry/sdk-trace-base', '@opentelemetry/sdk-metrics'],
    settings: { best: settings },
    program: () => import('./ours-program.mjs'),
  })),
];
