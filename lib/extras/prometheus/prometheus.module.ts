import { Module, type DynamicModule, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import { optionProblems } from '../../job/option-schema.js';
import { findProvider } from '../../nest/find-provider.js';
import type { ModuleEngine } from '../../nest/module-engine.js';
import { getEngineToken } from '../../nest/tokens.js';
import { METRICS_OPTIONS, type QueueMetricsOptions } from './metrics-options.js';
import { registerEngineMetrics, type MetricsRegistry } from './register-queue-metrics.js';

const PLACE = 'SqlQueuePrometheusModule.forRoot()';

export interface SqlQueuePrometheusOptions extends QueueMetricsOptions {
  /** A Registry of prom-client: its `register`, or one of your own. */
  registry: MetricsRegistry;
  /** The `name` of the instance of SqlQueueModule. Default: the instance without a name. */
  instance?: string;
}

/** Registers the metrics when the application starts, and removes them when it stops. */
class QueueMetricsLifecycle implements OnModuleInit, OnApplicationShutdown {
  #remove: (() => void) | undefined;

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly options: SqlQueuePrometheusOptions,
  ) {}

  onModuleInit(): void {
    const { registry, instance, ...options } = this.options;
    const engine = findProvider<ModuleEngine>(this.moduleRef, getEngineToken(instance), instance, PLACE);
    this.#remove = registerEngineMetrics(registry, engine, options);
  }

  onApplicationShutdown(): void {
    this.#remove?.();
  }
}

/**
 * Registers the metrics of the queue in a registry of prom-client. They are read when the registry is scraped.
 *
 * @example
 * ```ts
 * import { Module } from '@nestjs/common';
 * import { SqlQueuePrometheusModule } from 'nestjs-sql-queue/prometheus';
 * import { register } from 'prom-client';
 *
 * @Module({ imports: [SqlQueuePrometheusModule.forRoot({ registry: register })] })
 * export class MetricsModule {}
 * ```
 */
@Module({})
export class SqlQueuePrometheusModule {
  /** @throws InvalidOptionsError if an option is invalid, or at boot if the registry has these metrics already. */
  static forRoot(given: SqlQueuePrometheusOptions): DynamicModule {
    const { registry, instance, ...options } = given ?? {};
    InvalidOptionsError.throwIfAny(PLACE, [
      expected(typeof registry?.registerMetric === 'function', 'registry to be a Registry of prom-client', registry),
      ...optionProblems(METRICS_OPTIONS, options),
    ]);
    return {
      module: SqlQueuePrometheusModule,
      providers: [
        {
          provide: `SqlQueue:${instance ?? ''}:PrometheusMetrics`,
          useFactory: (moduleRef: ModuleRef) => new QueueMetricsLifecycle(moduleRef, given),
          inject: [ModuleRef],
        },
      ],
    };
  }
}
