import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { JobOfRun } from '../../job/instrumentation.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { flag, kind, oneOf, option, optionProblems, type SchemaOf } from '../../job/option-schema.js';
import { requireOptions } from '../../job/expectation.js';

/**
 * How the span of a job relates to the span that has sent the job. `link`: it starts a trace of its own with a link to the
 * sender. `child`: it continues the trace of the sender, which then lasts until the job ends.
 */
export type SpanRelation = 'link' | 'child';

export interface OpenTelemetryOptions {
  /** How spans of jobs relate to their senders, or a function that decides it per job. Batches use links. Default `link`. */
  parent?: SpanRelation | ((job: JobOfRun) => SpanRelation);
  /** Whether to record spans and to send their context in headers. Default true. */
  traces?: boolean;
  /** Whether to record metrics. Default true. */
  metrics?: boolean;
  /** Default: the global one, also if it is set later. */
  tracerProvider?: TracerProvider;
  /** Default: the global one at the time of the first measurement. */
  meterProvider?: MeterProvider;
}

type ParentFunction = (job: JobOfRun) => SpanRelation;

const OPTIONS = {
  parent: option({
    expected: `'link', 'child' or a function`,
    parse: (value) => (typeof value === 'function' ? (value as ParentFunction) : oneOf('link', 'child').parse(value)),
  }),
  traces: option(flag),
  metrics: option(flag),
  tracerProvider: option(kind('an object with getTracer()', hasMethod('getTracer'))),
  meterProvider: option(kind('an object with getMeter()', hasMethod('getMeter'))),
} satisfies SchemaOf<OpenTelemetryOptions>;

/** @throws InvalidOptionsError with all problems */
export function checkOptions(given: OpenTelemetryOptions): void {
  const where = 'OpenTelemetryInstrumentation options';
  requireOptions(where, given);
  InvalidOptionsError.throwIfAny(where, optionProblems(OPTIONS, given));
}

function hasMethod(name: string) {
  return (value: unknown): value is object =>
    typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function';
}
