import type { QueueInstrumentation } from '../job/instrumentation.js';
import { Instrumentations } from '../metrics/instrumentations.js';
import { MetricsRecorder } from '../metrics/metrics-recorder.js';
import type { OpenStore } from '../store/open-store.js';
import type { EngineCore } from './subsystems.js';

export function createMetrics(
  { clock, databaseClock, logger }: EngineCore,
  { metrics: store }: OpenStore,
  others: readonly QueueInstrumentation[] = [],
) {
  const recorder = new MetricsRecorder({ store, clock, databaseClock, logger });
  return { recorder, instrumentations: new Instrumentations([recorder, ...others], databaseClock, logger) };
}
