// The third line of the SDK in the names of the other lines.
import { SimpleSpanProcessor as Processor, type SpanExporter } from '@opentelemetry/sdk-trace';

export { InMemorySpanExporter, TracerProvider as BasicTracerProvider } from '@opentelemetry/sdk-trace';

export class SimpleSpanProcessor extends Processor {
  constructor(exporter: SpanExporter) {
    super({ exporter });
  }
}
