import { Instrumentations } from '../metrics/instrumentations.js';
import { MetricsRecorder } from '../metrics/metrics-recorder.js';
import type { OpenStore } from '../store/open-store.js';
import type { EngineOptions } from './engine-options.js';
import type { EngineCore } from './subsystems.js';

export function createInstrumentations(
  { databaseClock, logger }: EngineCore,
  { instrumentations = [], context }: EngineOptions,
): Instrumentations {
  return new Instrumentations(instrumentations, databaseClock, logger, context);
}

export function createMetrics(
  { clock, databaseClock, logger }: EngineCore,
  { metrics: store }: OpenStore,
  instrumentations: Instrumentations,
) {
  const recorder = new MetricsRecorder({ store, clock, databaseClock, logger });
  instrumentations.add(recorder);
  return { recorder, instrumentations };
}
