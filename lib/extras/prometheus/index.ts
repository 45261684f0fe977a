export type { QueueMetricsOptions } from './metrics-options.js';
export { SqlQueuePrometheusModule, type SqlQueuePrometheusOptions } from './prometheus.module.js';
export { registerQueueMetrics, type MetricsRegistry } from './register-queue-metrics.js';
