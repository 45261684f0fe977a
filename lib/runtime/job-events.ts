import { LeaseLostError } from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import type { Outcome } from '../job/outcome.js';
import { storedError } from '../job/stored-error.js';
import type { QueueEvent, QueueEventName, QueueEvents } from './queue-events.js';

type Detail = Omit<QueueEvent, 'event' | 'queue' | 'jobId' | 'name' | 'attempt'>;

/** Tells this process's listeners what happens to claimed jobs. */
export class JobEvents {
  constructor(private readonly events: QueueEvents) {}

  started(job: ClaimedJob): void {
    this.#emit('started', job, { ranMs: null });
  }

  lost(job: ClaimedJob, ranMs: number | null): void {
    this.#emit('lost', job, { ranMs, error: storedError(new LeaseLostError(job.id, job.queue)) });
  }

  /** The outcome has committed. */
  settled(job: ClaimedJob, outcome: Outcome, result: unknown, ranMs: number | null): void {
    switch (outcome.kind) {
      case 'complete':
        return this.#emit('completed', job, { ranMs, result });
      case 'retry':
        return this.#emit('failed', job, { ranMs, error: outcome.error, delayMs: outcome.delayMs });
      case 'dead':
        this.#emit('failed', job, { ranMs, error: outcome.error });
        return this.#emit('dead', job, { ranMs, error: outcome.error });
      case 'release':
        return this.#emit('released', job, { ranMs });
      case 'snooze':
        return this.#emit('snoozed', job, { ranMs, delayMs: outcome.delayMs });
      case 'cancel':
        return this.#emit('cancelled', job, { ranMs });
    }
  }

  #emit(event: QueueEventName, { id, queue, name, attempt }: ClaimedJob, detail: Detail): void {
    if (!this.events.isHeard(event)) return;
    this.events.emit({ event, queue, jobId: id, name, attempt, ...detail });
  }
}
