import type { Meter } from '@opentelemetry/api';
import type {
  DatabaseCall,
  EndedAttempt,
  EndedRun,
  HandlerRun,
  QueueInstrumentation,
  Sending,
  SentJobResult,
} from '../../job/instrumentation.js';
import { JobMeter } from './job-meter.js';
import { JobTracer } from './job-tracer.js';
import { loadApi, type Api } from './load-api.js';
import { checkOptions, type OpenTelemetryOptions } from './options.js';
import { observeQueues, type QueueGaugeSources } from './queue-gauges.js';

/**
 * Traces and metrics of the jobs of this process, by the semantic conventions for messaging. Needs `@opentelemetry/api`
 * and, to export anything, an SDK of the application. Without an SDK it records nothing.
 *
 * @example
 * ```ts
 * export const telemetry = new OpenTelemetryInstrumentation();
 * SqlQueueModule.forRoot({ instrumentations: [telemetry] });
 * ```
 */
export class OpenTelemetryInstrumentation implements QueueInstrumentation {
  readonly #api: Api;
  readonly #tracer: JobTracer | undefined;
  readonly #options: OpenTelemetryOptions;
  #meter: JobMeter | undefined;

  /** @throws InvalidOptionsError for invalid options, and Error if `@opentelemetry/api` is not installed */
  constructor(options: OpenTelemetryOptions = {}) {
    checkOptions(options);
    this.#options = options;
    this.#api = loadApi();
    this.#tracer = options.traces === false ? undefined : new JobTracer(this.#api, options);
  }

  enqueue(sending: Sending, next: () => Promise<readonly SentJobResult[]>): Promise<void> {
    const meter = this.#jobMeter;
    const measured = meter ? this.#within(next, (store) => meter.send(sending, store)) : next;
    return this.#tracer ? this.#tracer.send(sending, measured) : ignoreResult(measured());
  }

  run(run: HandlerRun, next: () => Promise<readonly EndedRun[]>): Promise<void> {
    const meter = this.#jobMeter;
    const measured = meter ? this.#within(next, (handle) => meter.process(run, handle)) : next;
    return this.#tracer ? this.#tracer.process(run, measured) : ignoreResult(measured());
  }

  ended(attempt: EndedAttempt): void {
    this.#jobMeter?.recordWait(attempt);
  }

  databaseCalled(call: DatabaseCall): void {
    this.#jobMeter?.recordCall(call);
  }

  /**
   * Registers gauges of all queues (`sql_queue.jobs`, `sql_queue.oldest_waiting`) and of the slots of this process
   * (`sql_queue.slots`, `sql_queue.slots.busy`, `sql_queue.prefetched`). They are read only when a reader collects metrics:
   * then `admin.stats()` sends one statement if its sample is older than five seconds.
   *
   * @returns a function that removes the gauges
   * @example
   * ```ts
   * constructor(admin: QueueAdmin, runner: SqlQueueRunner) {
   *   telemetry.observeQueues({ admin, runner });
   * }
   * ```
   */
  observeQueues(sources: QueueGaugeSources): () => void {
    return observeQueues(this.#newMeter(), sources);
  }

  /** Created late: unlike the global tracer, the global meter stays without effect if the SDK starts after it. */
  get #jobMeter(): JobMeter | undefined {
    if (this.#options.metrics === false) return undefined;
    return (this.#meter ??= new JobMeter(this.#newMeter()));
  }

  /** A `next` that also measures the call, and returns the promise of the call itself. */
  #within<T>(next: () => Promise<T>, measure: (next: () => Promise<T>) => Promise<void>): () => Promise<T> {
    return () => {
      let called: Promise<T> | undefined;
      const measuring = measure(() => (called = next()));
      measuring.catch((error: unknown) => this.#api.diag.error('nestjs-sql-queue cannot record metrics', error));
      return called ?? next();
    };
  }

  #newMeter(): Meter {
    return (this.#options.meterProvider ?? this.#api.metrics).getMeter('nestjs-sql-queue');
  }
}

/** The caller gets the error of the call. */
function ignoreResult(call: Promise<unknown>): Promise<void> {
  return call.then(
    () => undefined,
    () => undefined,
  );
}
