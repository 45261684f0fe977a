import { LeaseLostError } from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import type { PromotedJob } from '../store/jobs/job-store.js';
import { eventsOf, type Outcome } from '../job/outcome.js';
import { storedError } from '../job/stored-error.js';
import type { QueueEvent, QueueEventName } from '../job/queue-event.js';
import type { QueueEvents } from './queue-events.js';

type EventDetails = Pick<QueueEvent, 'ranMs'> & Partial<Pick<QueueEvent, 'owner' | 'result' | 'error' | 'delayMs'>>;

type ChangeEvent = 'enqueued' | 'promoted' | 'released' | 'cancelled' | 'retried' | 'removed';

/** A job whose row was changed without a claim. */
interface ChangedJob extends Omit<PromotedJob, 'attempt'> {
  readonly attempt?: number;
  readonly owner?: string | null;
}

/** Emits the events of jobs to the listeners of this process. */
export class JobEventEmitter {
  constructor(private readonly events: QueueEvents) {}

  hasListener(event: QueueEventName): boolean {
    return this.events.hasListener(event);
  }

  emit(event: ChangeEvent, jobs: readonly ChangedJob[]): void {
    if (!this.hasListener(event)) return;
    const hasOwner = event === 'cancelled' || event === 'released';
    for (const { attempt = 0, owner = null, ...job } of jobs)
      this.#emit(event, { ...job, attempt }, { ranMs: null, owner: hasOwner ? owner : null });
  }

  /** @param owner the owner for whom a consumer claimed the jobs */
  emitClaimed(jobs: readonly ClaimedJob[], owner?: string): void {
    for (const job of jobs) this.#emit('claimed', job, { ranMs: null, owner: owner || null });
  }

  emitStarted(job: ClaimedJob): void {
    this.#emit('started', job, { ranMs: null });
  }

  emitLost(job: ClaimedJob, ranMs: number | null): void {
    this.#emit('lost', job, { ranMs, error: storedError(new LeaseLostError(job.id, job.queue)) });
  }

  /** Call it after the outcome has committed. `ranMs` is null if the job did not run in this process. */
  emitOutcome(job: ClaimedJob, outcome: Outcome, result: unknown, ranMs: number | null, owner?: string): void {
    if (!this.events.hasAnyListener) return;
    for (const { event, ...detail } of eventsOf(outcome)) {
      const resultField = event === 'completed' && !detail.error && { result };
      this.#emit(event, job, { ranMs, owner: owner || null, ...resultField, ...detail });
    }
  }

  #emit(event: QueueEventName, { id, queue, name, attempt }: PromotedJob, details: EventDetails): void {
    if (!this.events.hasListener(event)) return;
    this.events.emit({ event, queue, jobId: id, name, attempt, owner: null, ...details });
  }
}
