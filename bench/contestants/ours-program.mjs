import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { sleep } from '../core/clock.mjs';
import { prefillOurs } from './ours-prefill.mjs';
import { openRows } from './ours-rows.mjs';
import { timedDriver } from './timed-driver.mjs';

const { QueueProcessor, QueueProducer, SqlQueueModule } = await import(process.env.BENCH_PACKAGE ?? 'nestjs-sql-queue');

export async function startWorker({ url, queues, settings, handle, timeClaims }) {
  const timed = timeClaims ? await timedDriver(url) : undefined;
  const observers = await observersOf(settings.observe);
  const app = await boot({
    settings: { ...settings.module, ...observers?.module, connection: connection(url, timed?.driver) },
    imports: observers?.imports,
    providers: [handlersFor(queues, settings, handle, observers)],
    logger: observers?.logger,
  });
  observers?.start(app);
  return {
    async close() {
      observers?.stop();
      await app.close();
    },
    get claims() {
      return timed?.claims;
    },
  };
}

export async function openProducer({ url, queues: [queue], settings }) {
  const observers = await observersOf(settings.observe?.telemetry && { telemetry: true });
  const app = await boot({
    settings: { ...settings.module, ...observers?.module, connection: connection(url), worker: false },
    providers: [],
  });
  const producer = app.get(QueueProducer);
  let rows;
  return {
    add: (payload) => producer.enqueue(queue, payload),
    addMany: (payloads) =>
      producer.enqueueMany(
        queue,
        payloads.map((payload) => ({ payload })),
      ),
    enqueueAndWait: async (payload) => producer.waitFor((await producer.enqueue(queue, payload)).id),
    // QueueAdmin.counts() also counts finished jobs, which the peers need not do here.
    async left() {
      rows ??= await openRows(url);
      const [{ n }] = await rows.all('SELECT COUNT(*) AS n FROM sql_queue_jobs WHERE queue = ?', [queue]);
      return Number(n);
    },
    prefill: prefillOurs(url, queue),
    async close() {
      await rows?.close();
      await app.close();
    },
  };
}

function boot({ settings, imports = [], providers, logger = ['error', 'warn'] }) {
  class AppModule {}
  Module({ imports: [SqlQueueModule.forRoot(settings), ...imports], providers })(AppModule);
  return NestFactory.createApplicationContext(AppModule, { logger, abortOnError: false });
}

/** Undefined if nothing observes, so that the packages are not loaded. */
async function observersOf(parts) {
  if (!parts) return undefined;
  const { Observers } = await import('./ours-observers.mjs');
  return new Observers(parts);
}

/** A class with a handler per queue. Applies by hand the decorators of a TypeScript class. */
function handlersFor(queues, { processor: options, handlerMs }, handle, observers) {
  class Handlers {}
  const handleAll = (jobs) => jobs.forEach((job) => handle(job.payload));
  const handleBatch = observers?.logged(handleAll) ?? handleAll;
  for (const [i, queue] of queues.entries()) {
    const method = `run${i}`;
    Handlers.prototype[method] = options.batch
      ? async (jobs) => handleBatch(jobs)
      : async (job) => {
          if (handlerMs) await sleep(handlerMs);
          handle(job.payload);
        };
    const descriptor = Object.getOwnPropertyDescriptor(Handlers.prototype, method);
    QueueProcessor(queue, options)(Handlers.prototype, method, descriptor);
  }
  Injectable()(Handlers);
  return Handlers;
}

function connection(url, driver) {
  const { protocol, pathname } = new URL(url);
  if (protocol === 'sqlite:') return { type: 'better-sqlite3', database: pathname, driver };
  return { type: protocol.slice(0, -1), url: url.replace(/^mariadb:/, 'mysql:'), driver };
}
