import { LeaseLostError } from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import type { PromotedJob } from '../store/job-store.js';
import { eventsOf, type Outcome } from '../job/outcome.js';
import { storedError } from '../job/stored-error.js';
import type { QueueEvent, QueueEventName } from '../job/queue-event.js';
import type { QueueEvents } from './queue-events.js';

type Detail = Omit<QueueEvent, 'event' | 'queue' | 'jobId' | 'name' | 'attempt' | 'owner'> & { owner?: string | null };

/** Tells this process's listeners what happens to claimed jobs. */
export class JobEvents {
  constructor(private readonly events: QueueEvents) {}

  promoted(jobs: readonly PromotedJob[]): void {
    for (const job of jobs) this.#emit('promoted', job, { ranMs: null });
  }

  /** @param owner for whom a consumer claimed them */
  claimed(jobs: readonly ClaimedJob[], owner?: string): void {
    for (const job of jobs) this.#emit('claimed', job, { ranMs: null, owner: owner || null });
  }

  started(job: ClaimedJob): void {
    this.#emit('started', job, { ranMs: null });
  }

  lost(job: ClaimedJob, ranMs: number | null): void {
    this.#emit('lost', job, { ranMs, error: storedError(new LeaseLostError(job.id, job.queue)) });
  }

  /**
   * The outcome has committed.
   *
   * @param owner who held the job through a consumer
   */
  settled(job: ClaimedJob, outcome: Outcome, result: unknown, ranMs: number | null, owner?: string): void {
    if (!this.events.hasListeners) return;
    for (const { event, ...detail } of eventsOf(outcome)) {
      const given = event === 'completed' && !detail.error && { result };
      this.#emit(event, job, { ranMs, owner: owner || null, ...given, ...detail });
    }
  }

  #emit(event: QueueEventName, { id, queue, name, attempt }: PromotedJob, detail: Detail): void {
    if (!this.events.isHeard(event)) return;
    this.events.emit({ event, queue, jobId: id, name, attempt, owner: null, ...detail });
  }
}
