import { Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { ClaimStrategy } from '../../../job/claim-strategy.js';
import { QueueProcessor } from '../../../nest/decorators.js';
import type { SqlQueueModuleOptions } from '../../../nest/module-options.js';
import { SqlQueueModule } from '../../../nest/sql-queue.module.js';
import { QueueProducer } from '../../../producer/queue-producer.js';
import type { JobContext } from '../../../worker/run/job-context.js';
import { SqlQueueRunner } from '../../../worker/sql-queue-runner.js';
import { sqlQueueMigrations } from '../../../store/databases/typeorm-migrations.js';
import { systemClock } from '../../../common/clock.js';
import { connectionOf } from '../connect.js';

export interface BenchOptions {
  readonly url: string;
  readonly jobs: number;
  readonly bytes: number;
  readonly claim: ClaimStrategy | 'auto';
}

const PREFIX = 'sql_queue_bench_';
const ONE_BY_ONE_DURATION_MS = 2_000;
const CONCURRENT_PRODUCERS = 50;
const CHUNK_SIZE = 1_000;
const IDLE_JOBS = 100;

/** Counts the jobs that start in the measured process. */
class Handlers {
  started = 0;
  #onStart: (() => void) | undefined;

  one(): void {
    this.#countStarted(1);
  }

  many(jobs: JobContext[]): void {
    this.#countStarted(jobs.length);
  }

  nextStart(): Promise<void> {
    return new Promise((resolve) => (this.#onStart = resolve));
  }

  #countStarted(jobs: number): void {
    this.started += jobs;
    this.#onStart?.();
  }
}

// Applied as functions, because this file is compiled without experimental decorators.
for (const [queue, method, options] of [
  ['one', 'one', {}],
  ['many', 'many', { batch: 100 }],
] as const) {
  const descriptor = Object.getOwnPropertyDescriptor(Handlers.prototype, method)!;
  QueueProcessor(queue, options)(Handlers.prototype, method, descriptor);
}

/**
 * Measures the queue on the database of a user and prints the figures. The producer and the worker are two applications, as
 * in two processes.
 */
export async function bench({ url, jobs, bytes, claim }: BenchOptions): Promise<void> {
  const connection = connectionOf(url);
  await dropTables(connection);
  const applications: INestApplicationContext[] = [];
  try {
    const producing = await start(connection, { worker: false });
    applications.push(producing);
    const working = await start(connection, {
      defaults: { claim },
      queues: { one: { paused: true }, many: { paused: true, retention: { completed: false } } },
    });
    applications.push(working);
    await describe(connection);
    await measure(producing.get(QueueProducer, { strict: false }), working, jobs, 'x'.repeat(Math.max(1, bytes - 2)));
  } finally {
    for (const application of applications.reverse()) await application.close();
    await dropTables(connection);
  }
}

async function measure(producer: QueueProducer, working: INestApplicationContext, jobs: number, payload: string) {
  const runner = working.get(SqlQueueRunner, { strict: false });
  const handlers = working.get(Handlers, { strict: false });
  const drain = async (queue: string) => {
    const before = handlers.started;
    runner.resume(queue);
    await runner.whenIdle();
    runner.pause(queue);
    return handlers.started - before;
  };
  const enqueueAll = async (queue: string) => {
    for (let done = 0; done < jobs; done += CHUNK_SIZE) {
      const chunk = Array.from({ length: Math.min(CHUNK_SIZE, jobs - done) }, () => ({ payload }));
      await producer.enqueueMany(queue, chunk);
    }
    return jobs;
  };

  await report('enqueue, one by one', () => enqueueOneByOne(producer, payload));
  await report(`enqueue, ${CONCURRENT_PRODUCERS} at a time`, () => enqueueConcurrently(producer, payload, jobs));
  await report(`enqueueMany, ${CHUNK_SIZE} at a time`, () => enqueueAll('many'));
  await drain('one');
  await enqueueAll('one');
  await report('run, one job at a time, concurrency 10', () => drain('one'));
  await report('run, batches of 100, no history', () => drain('many'));
  runner.resume('one');
  await report('enqueue to start, idle worker', () => measureIdleLatencies(producer, handlers, payload));
}

async function enqueueOneByOne(producer: QueueProducer, payload: string): Promise<number[]> {
  const durations: number[] = [];
  const end = systemClock.monotonic() + ONE_BY_ONE_DURATION_MS;
  for (let now = systemClock.monotonic(); now < end; now = systemClock.monotonic()) {
    await producer.enqueue('one', payload);
    durations.push(systemClock.monotonic() - now);
  }
  return durations;
}

async function enqueueConcurrently(producer: QueueProducer, payload: string, jobs: number): Promise<number> {
  let remaining = jobs;
  const produce = async (): Promise<void> => {
    while (remaining-- > 0) await producer.enqueue('one', payload);
  };
  await Promise.all(Array.from({ length: CONCURRENT_PRODUCERS }, produce));
  return jobs;
}

async function measureIdleLatencies(producer: QueueProducer, handlers: Handlers, payload: string): Promise<number[]> {
  const durations: number[] = [];
  for (let job = 0; job < IDLE_JOBS; job++) {
    await systemClock.sleep(50 + (job % 10) * 10);
    const started = handlers.nextStart();
    const since = systemClock.monotonic();
    await Promise.all([producer.enqueue('one', payload), started]);
    durations.push(systemClock.monotonic() - since);
  }
  return durations;
}

/** @param act resolves with the number of jobs, or with the duration of each job in milliseconds */
async function report(label: string, act: () => Promise<number | number[]>): Promise<void> {
  const since = systemClock.monotonic();
  const done = await act();
  const seconds = (systemClock.monotonic() - since) / 1_000;
  const rate = `${Math.round((Array.isArray(done) ? done.length : done) / seconds).toLocaleString('en')} jobs/s`;
  const times = Array.isArray(done) ? `p50 ${quantile(done, 0.5)} ms, p99 ${quantile(done, 0.99)} ms` : '';
  console.log(
    `${label.padEnd(42)} ${(Array.isArray(done) && done.length === IDLE_JOBS ? '' : rate).padStart(16)}   ${times}`,
  );
}

function quantile(values: readonly number[], fraction: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))]!.toFixed(2);
}

async function start(connection: DataSourceOptions, options: SqlQueueModuleOptions): Promise<INestApplicationContext> {
  class Application {}
  const queue = SqlQueueModule.forRoot({ connection, prefix: PREFIX, ...options });
  Module({ imports: [queue], providers: options.worker === false ? [] : [Handlers] })(Application as Type);
  return NestFactory.createApplicationContext(Application, { logger: ['warn', 'error'] });
}

/** Prints the versions and settings that the figures depend on. */
async function describe(connection: DataSourceOptions): Promise<void> {
  await withDatabase(connection, async (dataSource) => {
    const [row] = await dataSource.query<Record<string, unknown>[]>(
      connection.type === 'better-sqlite3'
        ? 'SELECT sqlite_version() AS version'
        : 'SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit, @@sync_binlog, @@log_bin',
    );
    console.log(`${connection.type} ${JSON.stringify(row)}, Node ${process.version}\n`);
  });
}

async function dropTables(connection: DataSourceOptions): Promise<void> {
  await withDatabase(connection, async (dataSource) => {
    const runner = dataSource.createQueryRunner();
    try {
      // That of the first version drops all tables. Those of later versions expect the table of versions.
      const [FirstVersion] = sqlQueueMigrations({ prefix: PREFIX });
      await new FirstVersion!().down(runner);
    } finally {
      await runner.release();
    }
  });
}

async function withDatabase(
  connection: DataSourceOptions,
  act: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  const dataSource = await new DataSource(connection).initialize();
  try {
    await act(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
