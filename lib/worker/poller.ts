import { pageSize } from '../common/lists.js';
import { PollLoop } from '../common/poll-loop.js';
import type { Rescuer } from './complete/rescuer.js';
import { PollHealth } from './poll-health.js';
import type { ScheduleRunner } from './schedule-runner.js';
import type { QueueState, WorkSummary } from '../store/verbs/job-store.js';
import type { RunTimeSettings } from './run-time-settings.js';
import type { QueueWorkers } from './queue/queue-workers.js';
import type { WorkerParts } from './worker-parts.js';

const PROMOTE_BATCH_SIZE = 500;
// A pause is longer than planned by up to this part, so that processes do not poll at the same time.
const JITTER = 0.2;
// A worker whose claims all come back full still polls after this time.
const MAX_UNPOLLED_MS = 500;
// Two summaries report the due time of the same job with a difference of up to their duration.
const DUE_TOLERANCE_MS = 50;

// A queue without a row may still have jobs, so a claim finds out.
const UNKNOWN_QUEUE: QueueState = {
  ...{ waiting: true, paused: false, isEnabled: true, concurrency: null },
  ...{ isLimited: false, isResting: false, hasGroups: false },
};

/**
 * Reads with one statement, for all queues of this process, whether there are jobs to claim, due jobs and expired
 * leases. The pauses grow while there is no work, up to the next known due time. While there is work, claims find it
 * without polls: a poll is expensive then, because it reads past active and finished jobs.
 */
export class Poller {
  readonly health: PollHealth;
  readonly #loop: PollLoop;
  #restMs: number;
  #restingUntil = Infinity;
  /** The queues that had jobs for this process at the last poll. */
  #busyQueues: readonly string[] = [];
  /** The queues in which jobs waited then, also if this process had no slot for them. */
  #waitingQueues: ReadonlySet<string> = new Set();
  /** Until this time no poll is necessary while claims feed the busy queues. */
  #noPollUntil = 0;
  #pollBy = Infinity;
  #pollWaiters: ((hasFound: boolean) => void)[] = [];
  #isStopped = false;
  /** How many jobs may have become claimable since the last poll. */
  #newlyAvailable = 0;
  #nextDueAt = Infinity;
  #wasPromotedElsewhere = false;
  /** Sequence numbers of summaries: the last one that was requested, and the last one that the loop received. */
  #lastRequested = 0;
  #lastAnswered = 0;
  #checking: Promise<void> | undefined;
  #stateChangeCount = 0;

  constructor(
    private readonly parts: WorkerParts,
    private readonly queues: QueueWorkers,
    private readonly schedules: ScheduleRunner,
    private readonly settings: RunTimeSettings,
    private readonly rescuer: Rescuer,
  ) {
    this.#restMs = parts.workerOptions.pollMinMs;
    this.health = new PollHealth(parts.clock, parts.logger);
    this.#loop = new PollLoop(
      () => this.health.observe(() => this.#tick()),
      parts.clock,
      (error) => this.#retryAfterFailure(error),
    );
  }

  /**
   * The number of polls that found something else than jobs to claim: a queue that was paused or resumed everywhere, a
   * process that waits for jobs to end, or a job that is due sooner.
   */
  get stateChangeCount(): number {
    return this.#stateChangeCount;
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#loop.stop(), this.#checking]);
    this.#pollWaiters.splice(0).forEach((resolve) => resolve(false));
  }

  /** Polls now, and restarts with the shortest pause. */
  wake(): void {
    this.#restMs = this.parts.workerOptions.pollMinMs;
    this.#pollBy = 0;
    this.#loop.wake();
  }

  /** Resolves with whether there was any work. */
  pollNow(): Promise<boolean> {
    this.#restMs = this.parts.workerOptions.pollMinMs;
    return this.#requestPoll();
  }

  /** Reads a summary beside the poll loop, without a change to its pauses. */
  check(): void {
    // A failed check needs no retry, because the next poll reads the same.
    this.#checking = this.#check().catch(() => undefined);
  }

  /**
   * Polls after a notification, and announces the jobs that this process has no room for. Resolves with whether there
   * was any work. The pauses stay as they are, so that many notifications cannot shorten them.
   */
  pollForNotification(): Promise<boolean> {
    this.#newlyAvailable = Math.max(1, this.#newlyAvailable);
    return this.#requestPoll();
  }

  /** Polls no later than in `ms`, when a job will be due. */
  expectDue(ms: number): void {
    const dueAt = this.parts.clock.monotonic() + ms;
    this.#pollBy = Math.min(this.#pollBy, dueAt);
    if (dueAt < this.#restingUntil) this.wake();
  }

  #requestPoll(): Promise<boolean> {
    if (this.#isStopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#pollWaiters.push(resolve);
      this.#loop.wake();
    });
  }

  async #tick(): Promise<number> {
    this.#restingUntil = Infinity;
    const { stores, clock } = this.parts;
    const store = stores.jobs;
    if (this.#needsNoPoll()) return this.#planRest(Math.min(this.#noPollUntil, this.#pollBy) - clock.monotonic());
    const newlyAvailable = this.#newlyAvailable;
    this.#newlyAvailable = 0;
    // Callers that wait from here on need a later poll, because this one may miss their jobs.
    const waiterCount = this.#pollWaiters.length;
    const number = ++this.#lastRequested;
    const polledAt = clock.monotonic();
    this.#noPollUntil = 0;
    this.#pollBy = Infinity;
    const queues = this.queues.names;
    // A caller waits for the answer of the database, or this process announces waiting jobs to others.
    const isWanted = waiterCount > 0 || newlyAvailable > 0;
    const assumedWaiting = isWanted ? [] : queues.filter((queue) => this.#needsNoRead(queue));
    const summary = await store.summarizeWork(queues, this.schedules.names, assumedWaiting);
    this.#lastAnswered = number;
    this.health.onAnswer();
    this.#recordNextDue(summary, polledAt);
    const isBusy = this.#applySummary(queues, summary, polledAt, newlyAvailable);
    const promoted = await this.#promoteDue(summary);
    const hasTicked = summary.tickInMs === 0 ? await this.schedules.runTicks() : false;
    const rescued = summary.leaseExpiryInMs === 0 ? await this.rescuer.rescue(store) : 0;
    const hasMoved = promoted > 0 || hasTicked || rescued > 0;
    this.#newlyAvailable = Math.max(this.#newlyAvailable, promoted);
    this.#pollWaiters.splice(0, waiterCount).forEach((resolve) => resolve(isBusy || hasMoved));
    // These jobs can be claimed at once, and further schedules may be due, so the next poll follows without a pause.
    if (hasMoved || this.#isPromotedElsewhere(summary, promoted)) return 0;
    this.#restMs = isBusy
      ? this.parts.workerOptions.pollMinMs
      : Math.min(this.parts.workerOptions.pollMaxMs, this.#restMs * 2);
    // Another transaction has locked the due jobs or the expired claims: the usual pauses apply to them.
    const isBlocked = summary.dueInMs === 0 || summary.leaseExpiryInMs === 0 || summary.tickInMs === 0;
    const upcoming = isBlocked ? await store.readUpcomingTimes(this.schedules.names) : summary;
    const nextEventInMs = earliest(upcoming.dueInMs, upcoming.leaseExpiryInMs, upcoming.tickInMs);
    this.#noPollUntil = polledAt + Math.min(MAX_UNPOLLED_MS, nextEventInMs);
    return this.#planRest(nextEventInMs);
  }

  #needsNoPoll(): boolean {
    if (this.#pollWaiters.length > 0 || this.#newlyAvailable > 0 || this.#busyQueues.length === 0) return false;
    const now = this.parts.clock.monotonic();
    if (now >= this.#noPollUntil || now >= this.#pollBy) return false;
    // Claims find the jobs of these queues without a poll.
    return this.#busyQueues.every((queue) => this.queues.of(queue)?.needsNoPoll ?? true);
  }

  /** Whether a poll need not look for waiting jobs of the queue: claims that go on will find them, or it has no slot. */
  #needsNoRead(queue: string): boolean {
    const worker = this.queues.of(queue);
    return !!worker && (worker.isFull || (worker.needsNoPoll && this.#waitingQueues.has(queue)));
  }

  #planRest(maxMs: number): number {
    const { clock, random } = this.parts;
    const restMs = Math.min(this.#restMs * (1 + JITTER * random()), maxMs);
    this.#restingUntil = clock.monotonic() + restMs;
    return restMs;
  }

  async #check(): Promise<void> {
    const number = ++this.#lastRequested;
    const queues = this.queues.names;
    const readAt = this.parts.clock.monotonic();
    const summary = await this.parts.stores.jobs.summarizeWork(queues, this.schedules.names);
    // Discard a summary that was requested before the loop's latest one.
    if (this.#isStopped || number < this.#lastAnswered) return;
    this.#applySummary(queues, summary, readAt, 0);
    this.expectDue(earliest(summary.dueInMs, summary.tickInMs));
  }

  /** @param queues those that the summary was requested for: it knows nothing of queues that were added since */
  #applySummary(queues: readonly string[], summary: WorkSummary, readAt: number, newlyAvailable: number): boolean {
    if (summary.atMs !== null) this.parts.databaseClock.learn(summary.atMs, readAt);
    if (this.parts.waitNotifier.observeWaits(summary.awaited)) this.#stateChangeCount++;
    const busyQueues: string[] = [];
    const waitingQueues = new Set<string>();
    for (const queue of queues) {
      const state = summary.queues.get(queue) ?? UNKNOWN_QUEUE;
      const worker = this.queues.of(queue);
      if (worker && this.settings.observe(queue, state)) this.#stateChangeCount++;
      if (state.waiting) waitingQueues.add(queue);
      if (worker?.applyState(state, readAt)) busyQueues.push(queue);
      if (newlyAvailable > 0 && state.waiting && !state.paused) this.queues.announce(queue, newlyAvailable);
    }
    this.#busyQueues = busyQueues;
    this.#waitingQueues = waitingQueues;
    return busyQueues.length > 0;
  }

  #recordNextDue({ dueInMs }: WorkSummary, polledAt: number): void {
    const dueAt = dueInMs === null ? Infinity : polledAt + dueInMs;
    if (dueAt < this.#nextDueAt - DUE_TOLERANCE_MS) this.#stateChangeCount++;
    this.#nextDueAt = dueAt;
  }

  /**
   * Whether another process promoted the due jobs first, so that they are waiting now. Returns true only once in a row,
   * because a transaction may also keep due jobs locked for long.
   */
  #isPromotedElsewhere({ dueInMs }: WorkSummary, promoted: number): boolean {
    const wasBefore = this.#wasPromotedElsewhere;
    this.#wasPromotedElsewhere = dueInMs === 0 && promoted === 0;
    return this.#wasPromotedElsewhere && !wasBefore;
  }

  async #promoteDue({ dueInMs }: WorkSummary): Promise<number> {
    if (dueInMs !== 0) return 0;
    const promoted = await this.parts.stores.jobs.promote(pageSize(PROMOTE_BATCH_SIZE));
    this.parts.events.emitChanges('promoted', promoted);
    this.queues.notifyOfUnworked(promoted);
    return promoted.length;
  }

  #retryAfterFailure(error: unknown): number {
    this.health.onFailure(error);
    this.#restMs = Math.min(this.parts.workerOptions.pollMaxMs, this.#restMs * 2);
    return this.#restMs * (1 + JITTER * this.parts.random());
  }
}

function earliest(...times: readonly (number | null)[]): number {
  return Math.min(...times.map((time) => time ?? Infinity));
}
