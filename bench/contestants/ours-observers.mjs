import { createWriteStream } from 'node:fs';
import { ConsoleLogger } from '@nestjs/common';
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { QueueAdmin, SqlQueueRunner } from 'nestjs-sql-queue';
import { OpenTelemetryInstrumentation } from 'nestjs-sql-queue/otel';
import { SqlQueuePrometheusModule } from 'nestjs-sql-queue/prometheus';
import { Registry } from 'prom-client';

const COLLECT_EVERY_MS = 5_000;

/** Observes an application as in production, except that scrapes, spans and log lines go nowhere. */
export class Observers {
  #registry = new Registry();
  #telemetry;
  #parts;
  #scrapes;

  /** @param parts `metrics` of Prometheus, `telemetry` of OpenTelemetry, and `logs` */
  constructor(parts) {
    this.#parts = parts;
    if (parts.telemetry) this.#telemetry = startTelemetry();
    if (parts.logs) Object.defineProperty(process, 'stdout', { value: createWriteStream('/dev/null') });
  }

  /** Options of SqlQueueModule. */
  get module() {
    return this.#telemetry ? { instrumentations: [this.#telemetry] } : {};
  }

  get imports() {
    return this.#parts.metrics ? [SqlQueuePrometheusModule.forRoot({ registry: this.#registry })] : [];
  }

  get logger() {
    return this.#parts.logs ? new ConsoleLogger({ json: true }) : undefined;
  }

  /** A handler of batches that writes a line about each. */
  logged(handle) {
    if (!this.#parts.logs) return handle;
    return (jobs) => {
      jobs[0].logger.log('handled', { jobs: jobs.length });
      handle(jobs);
    };
  }

  start(app) {
    this.#telemetry?.observeQueues({ admin: app.get(QueueAdmin), runner: app.get(SqlQueueRunner) });
    if (this.#parts.metrics) this.#scrapes = setInterval(() => void this.#registry.metrics(), COLLECT_EVERY_MS);
  }

  stop() {
    clearInterval(this.#scrapes);
  }
}

function startTelemetry() {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const spanProcessors = [new BatchSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  const reader = new PeriodicExportingMetricReader({
    exporter: { ...exporter, selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE },
    exportIntervalMillis: COLLECT_EVERY_MS,
    exportTimeoutMillis: COLLECT_EVERY_MS,
  });
  return new OpenTelemetryInstrumentation({ meterProvider: new MeterProvider({ readers: [reader] }) });
}

const exporter = {
  export: (_, done) => done({ code: 0 }),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};
