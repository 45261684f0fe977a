import { Batcher } from '../common/batcher.js';
import type { Clock } from '../common/clock.js';
import { OutageLog, type JobLogger } from '../common/logger.js';
import { PollLoop } from '../common/poll-loop.js';
import { hasCode, JobNotFoundError, ResultNotKeptError, StoreUnavailableError } from '../job/errors.js';
import { jobRetentionMs } from '../job/outcome.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { randomId } from '../job/identifiers.js';
import type { ResolvedWaitOptions } from '../job/wait-options.js';
import type { NotificationChannel } from '../store/notifications/notification-channel.js';
import type { JobLogStore } from '../store/features/logs/job-log-store.js';
import type { AwaitedJob, WaitStore } from '../store/features/waits/wait-store.js';
import { ResultWait } from './result-wait.js';
import { ChannelListener } from './listen-loop.js';
import { WaitPollSchedule } from './wait-poll-schedule.js';
import { WaitRegistration } from './wait-registration.js';

export interface WaiterParts {
  readonly store: WaitStore;
  readonly jobLogs: Pick<JobLogStore, 'progressOf'>;
  /** Undefined if this process receives no notifications: the waiter polls at least every second. */
  readonly channel: NotificationChannel | undefined;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly random: () => number;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** Makes the workers of all processes poll, so that they find new waits. */
  readonly notifyWorkers: () => void;
}

type CancelJob = (id: number) => Promise<boolean>;

const RETRY_INTERVAL_MS = 1_000;
const NO_IDS: ReadonlySet<number> = new Set();
// The errors of waits whose job is finished or gone. After any other error the job still exists.
const FINAL_ERROR_CODES = ['JOB_FAILED', 'JOB_CANCELLED', 'JOB_NOT_FOUND', 'RESULT_NOT_KEPT'];

/** The name that a waiting process listens for. */
export function waiterName(waiterId: number): string {
  return `waiter:${waiterId}`;
}

/**
 * Waits for the results of jobs, for all calls of this process: one poll reads all awaited jobs. The waiter registers
 * them in the database, so that the processes that end them notify it.
 */
export class Waiter {
  readonly #id = randomId();
  /** By the ids of their jobs. */
  readonly waits = new Map<number, Set<ResultWait>>();
  readonly #registration: WaitRegistration;
  readonly #schedule: WaitPollSchedule;
  readonly #loop: PollLoop;
  readonly #listener: ChannelListener;
  readonly #deletions: Batcher<number>;
  readonly #outage: OutageLog;
  readonly #awaitedOnClose = new Set<Promise<unknown>>();
  #isStarted = false;
  #wasNotified = false;
  #isUpdatingWaits = false;
  #isClosed = false;

  constructor(private readonly parts: WaiterParts) {
    const { store, channel, clock, logger, random, notifyWorkers } = parts;
    this.#registration = new WaitRegistration(store, clock, this.#id, this.waits, notifyWorkers);
    this.#schedule = new WaitPollSchedule(clock, random);
    this.#outage = new OutageLog(logger, 'Cannot poll for awaited jobs, retrying', 'The database is available again.');
    this.#loop = new PollLoop((stopping) => this.#tick(stopping), clock, this.#outage.retryAfter(RETRY_INTERVAL_MS));
    this.#listener = new ChannelListener({
      channel,
      clock,
      logger,
      name: this.name,
      isNeeded: () => this.waits.size > 0,
      gapMs: () => this.#schedule.gapMs(this.waits.size),
      onNotification: () => this.onNotification(),
    });
    this.#deletions = new Batcher((ids) => store.deleteOutcomes(this.#id, ids));
  }

  get name(): string {
    return waiterName(this.#id);
  }

  /**
   * Resolves with the result of the job, or rejects if the job ends without one.
   *
   * @param queue the queue of a job whose outcome is kept for this process; undefined for other jobs
   */
  waitFor(id: number, options: ResolvedWaitOptions, queue?: string): Promise<unknown> {
    const { clock } = this.parts;
    const wait = new ResultWait(id, queue, options, clock);
    if (this.#isClosed) wait.reject(closedError());
    if (wait.isOver) return wait.result;
    const waits = this.waits.get(id) ?? new Set();
    this.waits.set(id, waits.add(wait));
    wait.onOver(() => this.#removeWait(wait, waits));
    this.#schedule.recordNewWait();
    this.#loop.start();
    if (this.#isStarted) this.#wake();
    this.#isStarted = true;
    this.#listener.listen();
    return wait.result;
  }

  /** A job that this process waits for may have changed. */
  onNotification(): void {
    this.#wasNotified = true;
    this.#wake();
  }

  /**
   * Waits for the result of a job that was enqueued by `request`, and deletes its outcome and its logs afterwards. If the
   * wait fails before the job ends, the job is cancelled, because its result has no receiver.
   */
  waitForReply(id: number, queue: string, options: ResolvedWaitOptions, cancel: CancelJob): Promise<unknown> {
    const reply = this.#replyOrCancel(id, queue, options, cancel);
    const done = reply.catch(() => undefined).finally(() => this.#awaitedOnClose.delete(done));
    this.#awaitedOnClose.add(done);
    return reply;
  }

  /** Rejects all waits, and those to come, with StoreUnavailableError. */
  rejectAll(): void {
    this.#isClosed = true;
    for (const waits of this.waits.values()) for (const wait of waits) wait.reject(closedError());
  }

  /** Rejects all waits and stops. */
  async close(): Promise<void> {
    this.rejectAll();
    await Promise.all([this.#loop.stop(), this.#listener.stop(), ...this.#awaitedOnClose]);
    await this.#deletions.idle();
    // If this fails, the registrations expire in ten minutes.
    await this.#registration.unregister().catch(() => undefined);
  }

  async #replyOrCancel(id: number, queue: string, options: ResolvedWaitOptions, cancel: CancelJob): Promise<unknown> {
    try {
      return await this.waitFor(id, options, queue);
    } catch (error) {
      // If the cancellation fails, the job runs, and its result is pruned.
      if (!isFinalErrorOf(id, error)) await cancel(id).catch(() => undefined);
      throw error;
    } finally {
      this.#registration.delete(id);
      // If the deletion fails, the pruner deletes the outcome after a minute.
      await this.#deletions.add(id).catch(() => undefined);
    }
  }

  #removeWait(wait: ResultWait, waits: Set<ResultWait>): void {
    waits.delete(wait);
    if (waits.size > 0) return;
    this.waits.delete(wait.id);
    // The next tick unregisters the job.
    this.#wake();
  }

  /** A wait that ends because of the current poll needs no further poll. */
  #wake(): void {
    if (!this.#isUpdatingWaits) this.#loop.wake();
  }

  async #tick(stopping: AbortSignal): Promise<number> {
    await this.#schedule.waitForGap(this.waits.size, stopping);
    if (stopping.aborted) return 0;
    await this.#poll();
    // A job may have ended before its registration, without a notification, so it is read again.
    if (await this.#registration.register()) await this.#poll();
    await this.#registration.unregisterIfDue();
    return this.waits.size === 0 ? Infinity : this.#schedule.nextIntervalMs(this.waits.size);
  }

  async #poll(): Promise<void> {
    const polled = Array.from(this.waits, ([id, waits]) => ({ id, waits: [...waits] }));
    if (polled.length === 0) return;
    const wasNotified = this.#wasNotified;
    this.#wasNotified = false;
    const jobs = await this.parts.store.readJobs(polled.map(({ id }) => id));
    // Read after the jobs: a run writes its last progress before its outcome.
    const withProgress = polled.filter(({ waits }) => waits.some(({ onProgress }) => onProgress !== undefined));
    const progress = await this.parts.jobLogs.progressOf(withProgress.map(({ id }) => id));
    const removed = await this.#removedOf(polled.filter(({ id }) => !jobs.has(id)));
    this.#outage.onSuccess();
    this.#isUpdatingWaits = true;
    for (const { id, waits } of withProgress) for (const wait of waits) wait.reportProgress(progress.get(id));
    for (const { id, waits } of polled) for (const wait of waits) this.#updateWait(wait, jobs.get(id), removed);
    this.#isUpdatingWaits = false;
    const hasEnded = polled.some(({ id }) => !this.waits.has(id));
    this.#schedule.recordPoll(hasEnded ? 'something' : wasNotified ? 'nothing' : 'as before');
  }

  /**
   * The ids of missing jobs that were removed. A missing job that this process has seen before was removed, or it has
   * ended in a queue without a history.
   */
  async #removedOf(
    missing: readonly { readonly id: number; readonly waits: readonly ResultWait[] }[],
  ): Promise<ReadonlySet<number>> {
    const known = missing.filter(({ waits }) => waits.some(({ queue }) => queue !== undefined));
    if (known.length === 0) return NO_IDS;
    const ids = known.map(({ id }) => id);
    return this.parts.store.removedOf(this.#id, ids);
  }

  #updateWait(wait: ResultWait, job: AwaitedJob | undefined, removed: ReadonlySet<number>): void {
    if (wait.isOver) return;
    const { id, queue } = wait;
    if (!job) {
      const isUnknown = queue === undefined || removed.has(id);
      return wait.reject(isUnknown ? new JobNotFoundError(id) : new ResultNotKeptError(id, queue));
    }
    wait.update(job);
    if (wait.isOver) return;
    // Unless the job has its own, the options of this process decide. Another may keep results for longer, but this one
    // cannot know.
    const { completedMs } = this.parts.optionsFor(job.queue).retention;
    if (jobRetentionMs(job.overrides, true, completedMs) === false) wait.reject(new ResultNotKeptError(id, job.queue));
  }
}

/** The reason of the caller's signal may be the error of another job. */
function isFinalErrorOf(id: number, error: unknown): boolean {
  const isFinal = FINAL_ERROR_CODES.some((code) => hasCode(error, code));
  return isFinal && (error as JobNotFoundError).jobId === id;
}

function closedError(): StoreUnavailableError {
  return new StoreUnavailableError(
    'The queue of this process was closed while it waited. The job still exists.',
    'not-done',
  );
}
