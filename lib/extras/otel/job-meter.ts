import type { Counter, Histogram, Meter } from '@opentelemetry/api';
import { systemClock } from '../../common/clock.js';
import type {
  DatabaseCall,
  EndedAttempt,
  EndedRun,
  HandlerRun,
  Sending,
  SentJobResult,
} from '../../job/instrumentation.js';
import { errorAttributes, operationAttributes, queueAttributes } from './attributes.js';

// The buckets of the semantic conventions for messaging, in seconds.
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
// A job may wait from milliseconds to days.
const WAIT_BUCKETS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 3_600, 21_600, 86_400];

/** Records the metrics of the semantic conventions for messaging, and the waiting time of jobs. */
export class JobMeter {
  readonly #sent: Counter;
  readonly #consumed: Counter;
  readonly #operation: Histogram;
  readonly #process: Histogram;
  readonly #wait: Histogram;

  constructor(meter: Meter) {
    const duration = { unit: 's', advice: { explicitBucketBoundaries: DURATION_BUCKETS } };
    this.#sent = meter.createCounter('messaging.client.sent.messages', {
      description: 'Number of jobs that producers of this process have enqueued.',
      unit: '{message}',
    });
    this.#consumed = meter.createCounter('messaging.client.consumed.messages', {
      description: 'Number of jobs that were delivered to handlers of this process.',
      unit: '{message}',
    });
    this.#operation = meter.createHistogram('messaging.client.operation.duration', {
      description: 'Duration of enqueues, claims and completions.',
      ...duration,
    });
    this.#process = meter.createHistogram('messaging.process.duration', {
      description: 'Duration of handler calls.',
      ...duration,
    });
    this.#wait = meter.createHistogram('sql_queue.job.wait', {
      description: 'Time from the due time of a job to the call of its handler.',
      unit: 's',
      advice: { explicitBucketBoundaries: WAIT_BUCKETS },
    });
  }

  async send({ queue, jobs }: Sending, next: () => Promise<readonly SentJobResult[]>): Promise<void> {
    const startedAt = systemClock.monotonic();
    let error: unknown;
    try {
      const results = await next();
      jobs.forEach((job, index) => {
        if (results[index]?.outcome === 'existing') return;
        this.#sent.add(1, operationAttributes('send', job.queue));
      });
    } catch (rejected) {
      error = rejected;
    }
    const attributes = { ...operationAttributes('send', queue), ...errorAttributes(error) };
    this.#operation.record(secondsSince(startedAt), attributes);
  }

  async process({ queue, jobs }: HandlerRun, next: () => Promise<readonly EndedRun[]>): Promise<void> {
    const startedAt = systemClock.monotonic();
    const attributes = operationAttributes('process', queue);
    const ended = next();
    this.#consumed.add(jobs.length, attributes);
    const failed = (await ended).find(({ outcome }) => outcome === 'failed' || outcome === 'dead');
    this.#process.record(secondsSince(startedAt), { ...attributes, ...errorAttributes(failed?.error) });
  }

  /** Without the system, because the SDK needs a third of a microsecond for each attribute, for each job. */
  recordWait({ queue, waitMs }: EndedAttempt): void {
    if (waitMs !== null) this.#wait.record(waitMs / 1_000, queueAttributes(queue));
  }

  recordCall({ kind, queue, durationMs, error }: DatabaseCall): void {
    this.#operation.record(durationMs / 1_000, { ...operationAttributes(kind, queue), ...errorAttributes(error) });
  }
}

function secondsSince(startedAt: number): number {
  return (systemClock.monotonic() - startedAt) / 1_000;
}
