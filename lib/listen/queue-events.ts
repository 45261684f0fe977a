import { inRootContext } from '../common/async-context.js';
import { logStack, logText, type JobLogger } from '../common/logger.js';
import { LeaseLostError } from '../job/errors.js';
import type { ClaimedJob } from '../job/job.js';
import { eventsOf, type Outcome } from '../job/outcome.js';
import type { ChangedJob, ChangeEvent, QueueEvent, QueueEventName } from '../job/queue-event.js';
import { storedError } from '../job/stored-error.js';
import type { PromotedJob } from '../store/verbs/job-store.js';

export type QueueEventListener = (event: QueueEvent) => unknown;

type EventDetails = Pick<QueueEvent, 'ranMs'> & Partial<Pick<QueueEvent, 'owner' | 'result' | 'error' | 'delayMs'>>;

/** Calls the event listeners of this process after the commit. A listener that fails has no effect on jobs. */
export class QueueEvents {
  readonly #listeners = new Map<QueueEventName, { queue: string | undefined; listener: QueueEventListener }[]>();
  readonly #deliveries = new Set<Promise<void>>();
  /** While it is false, callers need not emit. Listeners are never removed, so it never becomes false again. */
  hasAnyListener = false;

  constructor(private readonly logger: JobLogger) {}

  /** @param queue the only queue whose events the listener receives; undefined: all queues */
  on(event: QueueEventName, queue: string | undefined, listener: QueueEventListener): void {
    this.hasAnyListener = true;
    const listeners = this.#listeners.get(event);
    if (listeners) listeners.push({ queue, listener });
    else this.#listeners.set(event, [{ queue, listener }]);
  }

  /** Callers need not create events without a listener. */
  hasListener(event: QueueEventName): boolean {
    return this.#listeners.has(event);
  }

  emitChanges(event: ChangeEvent, jobs: readonly ChangedJob[]): void {
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
    for (const { event, ...detail } of eventsOf(outcome)) {
      const resultField = event === 'completed' && !detail.error && { result };
      this.#emit(event, job, { ranMs, owner: owner || null, ...resultField, ...detail });
    }
  }

  deliver(event: QueueEvent): void {
    for (const { queue, listener } of this.#listeners.get(event.event) ?? []) {
      if (queue !== undefined && queue !== event.queue) continue;
      const delivery = this.#call(listener, event).finally(() => this.#deliveries.delete(delivery));
      this.#deliveries.add(delivery);
    }
  }

  async idle(): Promise<void> {
    while (this.#deliveries.size > 0) await Promise.all(this.#deliveries);
  }

  #emit(event: QueueEventName, { id, queue, name, attempt }: PromotedJob, details: EventDetails): void {
    if (!this.hasListener(event)) return;
    this.deliver({ event, queue, jobId: id, name, attempt, owner: null, ...details });
  }

  async #call(listener: QueueEventListener, event: QueueEvent): Promise<void> {
    try {
      await inRootContext(() => listener(event));
    } catch (error) {
      const { name, message, stack } = storedError(error);
      const { queue, jobId, name: jobName, attempt } = event;
      const line = `A listener for "${event.event}" threw: ${name}: ${logText(message)}`;
      this.logger.error(line, logStack(stack, message), { queue, jobId, name: jobName, attempt });
    }
  }
}
