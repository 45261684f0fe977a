import { context, propagation, trace, type Attributes } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';

declare const OTEL_MAJOR: number;

/** Registers an SDK for this test file. Its spans stay in memory. */
export function installSdk() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  return { exporter, tracer: trace.getTracer('application') };
}

/** The id of the parent span. Undefined for the first span of a trace. */
export function parentOf(span: ReadableSpan): string | undefined {
  const { parentSpanId } = span as { parentSpanId?: string };
  // The first line of the SDK has the id alone.
  return OTEL_MAJOR === 1 ? parentSpanId : span.parentSpanContext?.spanId;
}

/** One series of a metric. */
export interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Attributes;
  /** Of counters and gauges. */
  readonly value?: number;
  /** Of histograms. */
  readonly count?: number;
  readonly boundaries?: readonly number[];
}

/** A meter provider whose metrics the test reads. */
export function collectMetrics() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  // The test collects. The interval is longer than any test.
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const collect = async (): Promise<Measurement[]> => {
    const { resourceMetrics } = await reader.collect();
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({
          name: descriptor.name,
          unit: descriptor.unit,
          attributes,
          ...(typeof value === 'number'
            ? { value }
            : { count: (value as { count: number }).count, boundaries: boundariesOf(value) }),
        })),
      ),
    );
  };
  return { meterProvider, collect };
}

function boundariesOf(value: object): readonly number[] {
  return (value as { buckets: { boundaries: number[] } }).buckets.boundaries;
}
