import type { Registry } from 'prom-client';
import type { QueueAdmin } from '../../admin/queue-admin.js';
import { systemClock } from '../../common/clock.js';
import type { Engine } from '../../engine/engine.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { checkAndResolve, resolveOptions, type Resolved } from '../../job/option-schema.js';
import { ClusterMetrics, type ClusterMetricsParts } from './cluster-metrics.js';
import type { OwnMetric } from './metric.js';
import { METRICS_OPTIONS, type QueueMetricsOptions } from './metrics-options.js';
import { ProcessMetrics } from './process-metrics.js';

/** The parts of prom-client that the library calls. */
export type MetricsRegistry = Pick<Registry, 'registerMetric' | 'removeSingleMetric' | 'getSingleMetric'>;

type MeasuredEngine = Pick<Engine, 'admin' | 'clock' | 'runner' | 'events' | 'instrumentations'>;

/** Registers the metrics of one engine. Returns a function that removes them from the registry. */
export function registerEngineMetrics(
  registry: MetricsRegistry,
  engine: MeasuredEngine,
  given: QueueMetricsOptions,
): () => void {
  const options = resolveOptions(METRICS_OPTIONS, given);
  const process = new ProcessMetrics(options, engine.runner);
  const all = [...process.all, ...(options.cluster ? clusterMetrics(engine, options) : [])];
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
  given: Pick<QueueMetricsOptions, 'queues' | 'timeout'> = {},
): () => void {
  const options = checkAndResolve('registerQueueMetrics()', METRICS_OPTIONS, given);
  return register(registry, clusterMetrics({ admin, clock: systemClock }, options));
}

function clusterMetrics(
  parts: Pick<ClusterMetricsParts, 'admin' | 'clock'>,
  { queues, timeout }: Resolved<typeof METRICS_OPTIONS>,
) {
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
