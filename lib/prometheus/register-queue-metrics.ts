import type { Registry } from 'prom-client';
import type { QueueAdmin } from '../admin/queue-admin.js';
import { systemClock } from '../common/clock.js';
import type { Engine } from '../engine/engine.js';
import { InvalidOptionsError } from '../job/errors.js';
import { optionProblems, requireOptions, resolveOptions } from '../job/option-schema.js';
import { ClusterMetrics, type ClusterMetricsParts } from './cluster-metrics.js';
import type { OwnMetric } from './metric.js';
import { METRICS_OPTIONS, type QueueMetricsOptions } from './metrics-options.js';
import { ProcessMetrics } from './process-metrics.js';

/** The parts of prom-client that the library calls. */
export type MetricsRegistry = Pick<Registry, 'registerMetric' | 'removeSingleMetric' | 'getSingleMetric'>;

type MeasuredEngine = Pick<Engine, 'admin' | 'clock' | 'runner' | 'events' | 'instrumentations'>;

export function checkMetricsOptions(place: string, given: object): void {
  InvalidOptionsError.throwIfAny(place, optionProblems(METRICS_OPTIONS, requireOptions(place, given)));
}

/** Registers the metrics of one engine. Returns a function that removes them from the registry. */
export function registerEngineMetrics(
  registry: MetricsRegistry,
  engine: MeasuredEngine,
  given: QueueMetricsOptions,
): () => void {
  const { cluster, names, queues } = resolveOptions(METRICS_OPTIONS, given);
  const process = new ProcessMetrics({ names, queues }, engine.runner);
  const all = [...process.all, ...(cluster ? clusterMetrics(engine, given) : [])];
  const remove = register(registry, all);
  engine.instrumentations.add(process);
  engine.events.on('enqueued', undefined, ({ queue }) => process.enqueued(queue));
  return remove;
}

/**
 * Registers the gauges of all processes alone: for a process that only exposes them. `SqlQueuePrometheusModule` registers
 * them too, beside the metrics of its process.
 *
 * @returns a function that removes them from the registry
 * @throws InvalidOptionsError if an option is invalid, or if the registry has these metrics already
 */
export function registerQueueMetrics(
  registry: MetricsRegistry,
  admin: Pick<QueueAdmin, 'stats'>,
  options: Pick<QueueMetricsOptions, 'queues' | 'timeout'> = {},
): () => void {
  checkMetricsOptions('registerQueueMetrics()', options);
  return register(registry, clusterMetrics({ admin, clock: systemClock }, options));
}

function clusterMetrics(parts: Pick<ClusterMetricsParts, 'admin' | 'clock'>, given: QueueMetricsOptions) {
  const { queues, timeout } = resolveOptions(METRICS_OPTIONS, given);
  return new ClusterMetrics({ ...parts, queues, timeoutMs: timeout }).all;
}

function register(registry: MetricsRegistry, all: readonly OwnMetric[]): () => void {
  const taken = all.filter(({ name }) => registry.getSingleMetric(name) !== undefined).map(({ name }) => name);
  InvalidOptionsError.throwIfAny('Cannot register the metrics of the queue', [
    taken.length === 0
      ? undefined
      : `expected a registry without ${taken[0]}, got one that has it. Each instance of the queue needs a registry of its own`,
  ]);
  for (const metric of all) metric.register(registry);
  return () => all.forEach(({ name }) => registry.removeSingleMetric(name));
}
