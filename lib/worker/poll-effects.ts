import type { JobEventEmitter } from '../events/job-event-emitter.js';
import type { WaitNotifier } from '../listen/wait-notifier.js';
import type { PromotedJob, QueueState, RescuedJob } from '../store/jobs/job-store.js';
import type { RescueEffects } from './complete/rescue-effects.js';
import type { QueuePauses } from './queue-pauses.js';
import type { QueueWorkers } from './queue/queue-workers.js';

/** Applies the findings of a poll: wakes queue workers, opens and closes queues, emits events, notifies others. */
export class PollEffects {
  #stateChangeCount = 0;

  constructor(
    private readonly queues: QueueWorkers,
    private readonly pauses: QueuePauses,
    private readonly jobEvents: JobEventEmitter,
    private readonly rescueEffects: RescueEffects,
    private readonly waitNotifier: WaitNotifier,
  ) {}

  /**
   * The number of polls that found something else than jobs to claim: a queue that was paused or resumed everywhere, a
   * process that waits for jobs to end, or a job that is due sooner.
   */
  get stateChangeCount(): number {
    return this.#stateChangeCount;
  }

  /**
   * Returns whether this process takes jobs of the queue now.
   *
   * @param readAt the monotonic time before the state was read
   */
  onQueueState(
    queue: string,
    { paused, waiting, isLimited, isResting, hasGroups }: QueueState,
    readAt: number,
  ): boolean {
    const worker = this.queues.of(queue);
    // The handlers of the queue may have been removed since the poll began.
    if (!worker) return false;
    if (paused !== this.pauses.isPausedEverywhere(queue)) {
      this.#stateChangeCount++;
      this.pauses.setPausedEverywhere(queue, paused);
      this.pauses.apply();
    }
    worker.setLimited(isLimited, readAt);
    if (isResting) void worker.rest();
    if (hasGroups) worker.groups.discover();
    if (!worker.isOpen || !waiting) return false;
    worker.wake();
    return !worker.isFull && !worker.isAtLimit;
  }

  onPromoted(promoted: readonly PromotedJob[]): void {
    this.jobEvents.emit('promoted', promoted);
    this.queues.notifyOfUnworked(promoted);
  }

  onRescued(rescued: readonly RescuedJob[]): void {
    this.rescueEffects.onRescued(rescued);
  }

  /** A job will be due earlier than all that were known. */
  onDueSooner(): void {
    this.#stateChangeCount++;
  }

  /** @param waitsUntil see `WorkSummary.awaited` */
  onWaits(waitsUntil: number | null): void {
    if (this.waitNotifier.observeWaits(waitsUntil)) this.#stateChangeCount++;
  }
}
