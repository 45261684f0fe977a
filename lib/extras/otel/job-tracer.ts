import type { Attributes, Context, Link, Span, Tracer } from '@opentelemetry/api';
import type { EndedRun, HandlerRun, JobOfRun, Sending, SentJobResult } from '../../job/instrumentation.js';
import { errorAttributes, operationAttributes } from './attributes.js';
import type { Api } from './load-api.js';
import type { OpenTelemetryOptions } from './options.js';

const NAME = 'nestjs-sql-queue';

/** Records the spans of producers and handlers, and carries their context in the headers of jobs. */
export class JobTracer {
  readonly #tracer: Tracer;

  constructor(
    private readonly api: Api,
    private readonly options: Pick<OpenTelemetryOptions, 'parent' | 'tracerProvider'>,
  ) {
    this.#tracer = (options.tracerProvider ?? api.trace).getTracer(NAME);
  }

  async send(sending: Sending, next: () => Promise<readonly SentJobResult[]>): Promise<void> {
    const { context, propagation, trace, SpanKind } = this.api;
    const span = this.#tracer.startSpan(spanName('send', sending.queue), {
      kind: SpanKind.PRODUCER,
      attributes: sendAttributes(sending),
    });
    const active = trace.setSpan(context.active(), span);
    const carrier: Record<string, string> = {};
    propagation.inject(active, carrier);
    for (const job of Object.keys(carrier).length > 0 ? sending.jobs : []) Object.assign(job.headers, carrier);
    try {
      const results = await context.with(active, next);
      if (results.length === 1) span.setAttribute('messaging.message.id', String(results[0]!.id));
    } catch (error) {
      this.#fail(span, error, error);
    } finally {
      span.end();
    }
  }

  async process(run: HandlerRun, next: () => Promise<readonly EndedRun[]>): Promise<void> {
    const { context, trace, SpanKind } = this.api;
    const origins = this.#originsOf(run.jobs);
    const isChild = run.jobs.length === 1 && this.#relationOf(run.jobs[0]!) === 'child';
    // Without the context in which the worker happened to claim the job.
    const parent = isChild ? origins[0]! : this.#contextOfBaggage(origins);
    const span = this.#tracer.startSpan(
      spanName('process', run.queue),
      {
        kind: SpanKind.CONSUMER,
        attributes: processAttributes(run),
        root: !isChild,
        links: isChild ? [] : this.#linksTo(origins),
      },
      parent,
    );
    try {
      this.#end(span, await context.with(trace.setSpan(parent, span), next));
    } finally {
      span.end();
    }
  }

  #end(span: Span, ends: readonly EndedRun[]): void {
    const outcomes = new Set(ends.map(({ outcome }) => outcome));
    if (outcomes.size === 1) span.setAttribute('sql_queue.job.outcome', [...outcomes][0]!);
    // The jobs of a batch often fail with one error.
    const failures = new Map(ends.filter(isFailure).map(({ thrown, error }) => [thrown, error]));
    for (const [thrown, error] of failures) this.#fail(span, thrown, error);
  }

  #fail(span: Span, thrown: unknown, error: unknown): void {
    const { message } = (error ?? {}) as { message?: string };
    span.recordException(thrown instanceof Error ? thrown : String(message ?? thrown));
    span.setStatus({ code: this.api.SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
    span.setAttributes(errorAttributes(error));
  }

  /** The distinct contexts of the senders. The jobs of one `enqueueMany` have the same, which is read once. */
  #originsOf(jobs: readonly JobOfRun[]): Context[] {
    const { propagation, ROOT_CONTEXT } = this.api;
    const fields = propagation.fields();
    const textOf = ({ headers }: JobOfRun) => fields.map((field) => headers[field]).join('\n');
    const distinct = jobs.length === 1 ? jobs : new Map(jobs.map((job) => [textOf(job), job])).values();
    return [...distinct].map(({ headers }) => propagation.extract(ROOT_CONTEXT, headers));
  }

  #relationOf(job: JobOfRun): string {
    const { parent = 'link' } = this.options;
    return typeof parent === 'function' ? parent(job) : parent;
  }

  /** One link per distinct span. */
  #linksTo(origins: readonly Context[]): Link[] {
    const { trace, isSpanContextValid } = this.api;
    const contexts = origins.map((origin) => trace.getSpanContext(origin)).filter((one) => one !== undefined);
    const distinct = new Map(contexts.filter(isSpanContextValid).map((one) => [one.traceId + one.spanId, one]));
    return [...distinct.values()].map((context) => ({ context }));
  }

  /** The baggage that all jobs have in common, because a batch may have jobs of several tenants. */
  #contextOfBaggage([first, ...others]: readonly Context[]): Context {
    const { propagation, ROOT_CONTEXT } = this.api;
    const entries = propagation.getBaggage(first!)?.getAllEntries() ?? [];
    const common = entries.filter(([key, { value }]) =>
      others.every((other) => propagation.getBaggage(other)?.getEntry(key)?.value === value),
    );
    if (common.length === 0) return ROOT_CONTEXT;
    return propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage(Object.fromEntries(common)));
  }
}

function spanName(operation: 'send' | 'process', queue: string | null): string {
  return queue === null ? operation : `${operation} ${queue}`;
}

function isFailure({ outcome }: EndedRun): boolean {
  return outcome === 'failed' || outcome === 'dead';
}

function sendAttributes({ queue, jobs }: Sending): Attributes {
  const attributes = operationAttributes('send', queue);
  const [first] = jobs;
  if (jobs.length > 1) return { ...attributes, 'messaging.batch.message_count': jobs.length };
  return { ...attributes, 'messaging.message.body.size': first!.payloadBytes, 'sql_queue.job.name': first!.name };
}

function processAttributes({ queue, jobs }: HandlerRun): Attributes {
  const attributes = operationAttributes('process', queue);
  const [first] = jobs;
  // All jobs of a batch have one name.
  const named = { ...attributes, 'sql_queue.job.name': first!.name };
  if (jobs.length > 1) return { ...named, 'messaging.batch.message_count': jobs.length };
  return { ...named, 'messaging.message.id': String(first!.id), 'sql_queue.job.attempt': first!.attempt };
}
