import type { JobEventEmitter } from '../events/job-event-emitter.js';
import type { WaitNotifier } from '../listen/wait-notifier.js';
import type { PromotedJob, QueueState, RescuedJob } from '../store/jobs/job-store.js';
import type { RescueEffects } from './complete/rescue-effects.js';
import type { QueuePauses } from './queue-pauses.js';
import type { QueueWorkers } from './queue/queue-workers.js';
import type { RunTimeSettings } from './run-time-settings.js';
import type { WorkAnnouncer } from './work-announcer.js';

/** Applies the findings of a poll: wakes queue workers, opens and closes queues, emits events, notifies others. */
export class PollEffects {
  #stateChangeCount = 0;

  constructor(
    private readonly queues: QueueWorkers,
    private readonly pauses: QueuePauses,
    private readonly settings: RunTimeSettings,
    private readonly announcer: WorkAnnouncer,
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
  onQueueState(queue: string, state: QueueState, readAt: number): boolean {
    const { waiting, isLimited, isResting, hasGroups } = state;
    const worker = this.queues.of(queue);
    // The handlers of the queue may have been removed since the poll began.
    if (!worker) return false;
    const isClosed = !this.settings.apply(queue, state) || state.paused;
    if (isClosed !== this.pauses.isPausedEverywhere(queue)) {
      this.#stateChangeCount++;
      this.pauses.setPausedEverywhere(queue, isClosed);
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
    this.jobEvents.emitPromoted(promoted);
    this.announcer.notifyOfUnworked(promoted);
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

  /** Up to `jobs` jobs of the queue have become claimable, perhaps more than this process has room for. */
  onNewlyAvailable(queue: string, jobs: number): void {
    this.announcer.announce(queue, jobs);
  }

  /** Whether claims find the jobs of the queue without a poll: the last claim was full, or no slot is free. */
  needsNoPoll(queue: string): boolean {
    return this.queues.of(queue)?.needsNoPoll ?? true;
  }
}
