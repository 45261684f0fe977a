export { OpenTelemetryInstrumentation } from './open-telemetry-instrumentation.js';
export type { OpenTelemetryOptions, SpanRelation } from './options.js';
export type { QueueGaugeSources } from './queue-gauges.js';
