import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ShutdownError } from '../job/errors.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { rescueRules } from '../job/rescue-rules.js';
import { workerName, type Doorbell } from '../store/doorbell.js';
import type { QueueStore } from '../store/queue-store.js';
import type { JobStore, PromotedJob, RescueRules } from '../store/job-store.js';
import type { LockStore } from '../store/lock-store.js';
import type { TraceStore } from '../store/trace-store.js';
import type { Clock } from '../time/clock.js';
import { within } from '../time/within.js';
import type { AwaitedJobs } from './awaited-jobs.js';
import { Cancellations } from './cancellations.js';
import { FailureLog } from './failure-log.js';
import type { HandlerTable } from './handler-table.js';
import { JobEvents } from './job-events.js';
import type { JobLogger } from './job-logger.js';
import { LeaseKeeper } from './lease-keeper.js';
import { LockKeeper } from './lock-keeper.js';
import { Listener } from './listener.js';
import { Poller } from './poller.js';
import { LoopPulse, type Pulse, type PulseSettings } from './pulse.js';
import { Pruner, type Pruning } from './pruner.js';
import type { QueueEvents } from './queue-events.js';
import { QueueKeeper, type QueueKeeperParts } from './queue-keeper.js';
import { QueueStrategies } from './queue-strategies.js';
import { QueueWorker } from './queue-worker.js';
import { QueueWorkers } from './queue-workers.js';
import { RescuedJobs } from './rescued-jobs.js';
import { Settler } from './settler.js';
import { Slots } from './slots.js';
import { Traces } from './traces.js';
import type { ResolvedWorkerOptions } from './worker-options.js';

// How long handlers have to heed an aborted signal before their jobs are released over their heads.
const GRACE_MS = 1_000;
// After the shutdown timeout a worker takes no longer than this, handlers' grace included, whatever the database does.
const LAST_MS = 1_500;
// The part of it that remains when outcomes stop waiting for a database that is away.
const LEAVE_MS = 250;
// A worker with nothing to write waits no longer than this to leave the list of workers.
const LONGEST_LEAVE_MS = 5_000;

export interface WorkerParts extends QueueKeeperParts {
  readonly store: JobStore;
  readonly queueStore: QueueStore;
  /** Undefined where this process neither wakes others nor is woken by them. */
  readonly doorbell: Doorbell | undefined;
  /** Undefined where no queue can be claimed by `lock`. */
  readonly locks: LockStore | undefined;
  /** What renews its leases; by default this process's own event loop. */
  readonly pulse?: ((settings: PulseSettings) => Pulse) | undefined;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly random: () => number;
  readonly handlers: HandlerTable;
  /** Takes down the options of a queue that is handled from now on. Throws an InvalidOptionsError if they do not fit in. */
  readonly define: (queue: string, options: ProcessorOptions) => void;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  readonly options: ResolvedWorkerOptions;
  readonly events: QueueEvents;
  readonly awaited: AwaitedJobs;
  readonly traces: TraceStore;
  /** What is deleted in time, a batch at a call. */
  readonly prunings: readonly Pruning[];
}

/** One start of this process's work, from entering the database to leaving it. Never started twice. */
export class Worker {
  readonly id = randomUUID();
  readonly #queues = new QueueWorkers();
  readonly #pausedHere: Set<string>;
  readonly #pausedEverywhere = new Set<string>();
  /**
   * How often a look has found something else than jobs to claim: a queue paused or resumed everywhere, a process that waits
   * for jobs to end, a job that is due sooner.
   */
  #turns = 0;
  readonly #settler: Settler;
  readonly #poller: Poller;
  readonly #listener: Listener | undefined;
  readonly #leases: LeaseKeeper;
  readonly #cancellations: Cancellations;
  readonly #pruner: Pruner;
  readonly #keeper: QueueKeeper;
  /** Of queues that were added while it works. */
  readonly #keepers = new Map<string, QueueKeeper>();
  readonly #slots: Slots;
  /** Queues that are not to be worked here any more. */
  readonly #leaving = new Set<string>();
  readonly #ended = new AbortController();
  readonly #traces: Traces;
  readonly #rules: RescueRules;
  readonly #rescued: RescuedJobs;
  /** Undefined where no queue is claimed by `lock`. */
  #locks: LockKeeper | undefined;
  readonly #strategies: QueueStrategies;
  #quiet = false;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly parts: WorkerParts,
    private readonly queueNames: readonly string[],
    paused: ReadonlyMap<string, boolean> = new Map(),
  ) {
    const { store, clock, logger, random, options, optionsFor, events, awaited } = parts;
    this.#slots = new Slots(options.concurrency);
    this.#strategies = new QueueStrategies(parts);
    const jobEvents = new JobEvents(events);
    this.#pausedHere = new Set(queueNames.filter((queue) => paused.get(queue) ?? optionsFor(queue).paused));
    this.#settler = new Settler(
      ...([store, clock, logger] as const),
      (claim) => this.#queues.of(claim.queue)?.startedAhead(claim) ?? 0,
      (claim) => this.#queues.forget(claim),
    );
    this.#leases = new LeaseKeeper({
      ...{ clock, logger, workerId: this.id },
      shortestLeaseMs: Math.min(...queueNames.map((queue) => optionsFor(queue).leaseMs)),
      pulse: parts.pulse ?? ((settings) => new LoopPulse(store, clock, settings)),
      onLost: (claim) => this.#queues.forget(claim),
      onCancelled: (claim, jobId) => this.#queues.of(claim.queue)?.cancel(jobId),
    });
    this.#cancellations = new Cancellations({
      ...{ store, clock, claims: () => this.#leases.claims },
      onCancelled: (claim, jobId) => this.#queues.of(claim.queue)?.cancel(jobId) ?? false,
    });
    this.#traces = new Traces(parts.traces, parts.awaited, clock, logger);
    for (const queue of queueNames) this.#queues.byName.set(queue, this.#queueWorker(queue));
    this.#rules = rescueRules(optionsFor, parts);
    this.#rescued = new RescuedJobs({
      ...{ events, awaited, logger, failures: new FailureLog(logger, optionsFor) },
      share: (queue, jobs) => this.#share(queue, jobs),
      expectDue: (_, ms) => this.#poller.expectDue(ms),
    });
    this.#poller = new Poller({
      ...{ store, clock, logger, random, queues: () => this.#names, rules: this.#rules },
      ...{ minMs: options.pollMinMs, maxMs: options.pollMaxMs },
      onQueue: (queue, seen) => this.#onQueue(queue, seen),
      onPromoted: (promoted) => {
        jobEvents.promoted(promoted);
        this.#notifyOthers(promoted);
      },
      onSooner: () => void this.#turns++,
      isFed: (queue) => this.#queues.of(queue)?.isFed ?? true,
      onRescued: (rescued) => this.#rescued.tell(rescued),
      onAwaited: (until) => {
        if (awaited.note(until)) this.#turns++;
      },
      onNews: (queue, jobs) => this.#share(queue, jobs),
    });
    this.#listener = parts.doorbell && this.#listenerTo(parts.doorbell);
    this.#pruner = new Pruner(parts.prunings, clock, logger, random);
    this.#keeper = new QueueKeeper(parts, queueNames);
  }

  async start(): Promise<void> {
    const { store } = this.parts;
    // First of all, so that a temporary queue is one from the beginning.
    await this.#keeper.declare();
    await this.#strategies.choose(this.queueNames);
    await store.enter({ id: this.id, host: hostname(), pid: process.pid, queues: this.queueNames });
    await this.#readPauses(this.queueNames);
    if (this.#strategies.byLock.length > 0) await this.#takeLock();
    this.#applyPauses();
    this.#leases.start();
    this.#poller.start();
    this.#listener?.start();
    this.#pruner.start();
    this.#keeper.start();
  }

  /** Works one more queue from now on. Rejects if the queue cannot be made known, or not be claimed as it says. */
  async add(queue: string, isPaused: boolean | undefined): Promise<void> {
    if (this.works(queue)) return;
    const options = this.parts.optionsFor(queue);
    const keeper = new QueueKeeper(this.parts, [queue]);
    await keeper.declare();
    await this.#strategies.choose([queue]);
    await this.#readPauses([queue]);
    if (this.#strategies.isByLock(queue) && !this.#locks) await this.#takeLock();
    await this.parts.store.work(this.id, [...this.#names, queue]);
    this.#leases.admit(options.leaseMs);
    this.#keepers.set(queue, keeper);
    keeper.start();
    if (isPaused ?? options.paused) this.#pausedHere.add(queue);
    this.#queues.byName.set(queue, this.#queueWorker(queue));
    this.#applyPauses();
    // The next look tells whether it has jobs.
    this.#poller.wake();
  }

  /** Works the queue no longer. Resolves when its jobs here have ended or gone back, or the worker has ended. */
  async remove(queue: string): Promise<void> {
    const worker = this.#queues.of(queue);
    if (!worker) return;
    this.#leaving.add(queue);
    this.#applyPauses();
    await this.#queues.untilOneIdle(worker, this.#ended.signal);
    if (this.#ended.signal.aborted) return;
    this.#queues.byName.delete(queue);
    this.#strategies.delete(queue);
    this.#leaving.delete(queue);
    this.#pausedHere.delete(queue);
    this.#pausedEverywhere.delete(queue);
    this.#listener?.listenAnew();
    const keeper = this.#keepers.get(queue);
    this.#keepers.delete(queue);
    await keeper?.stop();
    // What the table of workers says is for people to read.
    await this.parts.store.work(this.id, this.#names).catch(() => undefined);
  }

  setConcurrency(queue: string, concurrency: number): void {
    this.#queues.of(queue)?.setConcurrency(concurrency);
  }

  pause(queues: readonly string[]): void {
    queues.forEach((queue) => this.#pausedHere.add(queue));
    this.#applyPauses();
  }

  resume(queues: readonly string[]): void {
    queues.forEach((queue) => this.#pausedHere.delete(queue));
    this.#applyPauses();
  }

  works(queue: string): boolean {
    return this.#queues.byName.has(queue);
  }

  /** So many jobs of the queue may be waiting. Answers whether this process takes them all, as far as can be told. */
  wake(queue: string, jobs: number): boolean {
    return this.#queues.byName.get(queue)?.expect(jobs) ?? false;
  }

  expectDue(ms: number): void {
    this.#poller.expectDue(ms);
  }

  /** Looks now: something that the database says has changed. */
  look(): void {
    this.#poller.wake();
  }

  cancel(jobId: number): void {
    this.#queues.cancel(jobId);
  }

  /** Resolves when nothing runs here and a fresh look finds nothing that could. */
  async idle(): Promise<void> {
    do await this.#untilIdle();
    while (!this.#quiet && ((await this.#poller.look()) || !this.#queues.isIdle));
  }

  /** First phase of the end: claims no more, and gives back what has not begun. */
  quiet(): void {
    if (this.#quiet) return;
    this.#quiet = true;
    this.#applyPauses();
    this.#looking = Promise.all([this.#poller.stop(), this.#pruner.stop(), this.#listener?.stop()]);
  }

  /** Second phase: waits for what runs, then aborts it, then releases it; and leaves. Never waits for ever. */
  async drain(timeoutMs: number): Promise<void> {
    this.quiet();
    const { clock } = this.parts;
    const endsAt = clock.monotonic() + timeoutMs + LAST_MS;
    const leftMs = () => endsAt - clock.monotonic();
    if (!(await within(clock, timeoutMs, this.#untilIdle()))) await this.#abort(timeoutMs);
    if (!(await within(clock, leftMs() - LEAVE_MS, this.#untilIdle()))) {
      this.#settler.giveUp();
      // Outcomes that were put off are tried once more.
      await within(clock, leftMs(), this.#settler.idle());
    }
    await within(clock, Math.min(leftMs(), LONGEST_LEAVE_MS), this.#leave());
    this.#ended.abort();
    this.#queues.noteIdle();
  }

  async #leave(): Promise<void> {
    // A worker that stays on the list is harmless, and forgotten after a day.
    const leaving = Promise.all([
      ...[this.#looking, this.#leases.stop(), this.#cancellations.stop(), this.#keeper.stop(), this.#locks?.stop()],
      ...[...this.#keepers.values()].map((keeper) => keeper.stop()),
      this.parts.store.leave(this.id),
    ]);
    await leaving.catch(() => undefined);
    await this.parts.events.heard();
  }

  async #abort(timeoutMs: number): Promise<void> {
    const { running } = this.#queues;
    if (running === 0) return;
    this.parts.logger.warn(`${running} job(s) still running after ${timeoutMs} ms: aborting and releasing them.`);
    this.#queues.abortAll(new ShutdownError());
    if (!(await within(this.parts.clock, GRACE_MS, this.#untilIdle()))) this.#queues.releaseAll();
  }

  get #names(): string[] {
    return [...this.#queues.byName.keys()];
  }

  async #takeLock(): Promise<void> {
    const locks = this.#lockKeeper(this.parts.locks!);
    await locks.start();
    this.#locks = locks;
  }

  #queueWorker(queue: string): QueueWorker {
    const { store, clock, logger, random, handlers, optionsFor, events, awaited } = this.parts;
    return new QueueWorker({
      ...{
        queue,
        store,
        clock,
        logger,
        random,
        slots: this.#slots,
        workerId: this.id,
        awaited,
        traces: this.#traces,
        events: new JobEvents(events),
      },
      ...{ settler: this.#settler, leases: this.#leases, options: optionsFor(queue) },
      handlerFor: (name) => handlers.find(queue, name),
      largestBatch: handlers.largestBatch(queue),
      expectDue: (ms) => this.#poller.expectDue(ms),
      waitsAgain: () => this.#share(queue, 1),
      deadLetterWaits: (letters) => this.#share(letters, 1),
      strategy: () => this.#strategies.of(queue),
      lockId: () => (this.#strategies.isByLock(queue) ? this.#locks?.id : 0),
      onSlotFree: () => this.#onSlotFree(queue),
      onIdle: () => this.#onIdle(queue),
    });
  }

  #lockKeeper(store: LockStore): LockKeeper {
    const { clock, logger, optionsFor } = this.parts;
    const shortestLeaseMs = () => Math.min(...this.#strategies.byLock.map((queue) => optionsFor(queue).leaseMs));
    return new LockKeeper({
      ...{ store, clock, logger, workerId: this.id, rules: this.#rules },
      shortestLeaseMs,
      onRescued: (rescued) => this.#rescued.tell(rescued),
      onTaken: () => this.#strategies.byLock.forEach((queue) => this.#queues.of(queue)?.wake()),
      onLost: () => this.#leases.giveUp(({ queue }) => this.#strategies.isByLock(queue)),
    });
  }

  #listenerTo(doorbell: Doorbell): Listener {
    const { clock, logger, random, options } = this.parts;
    return new Listener({
      ...{ doorbell, clock, logger, random, maxMs: options.pollMaxMs },
      ...{ queues: this.#queues.byName, poller: this.#poller, turns: () => this.#turns },
      ...{ name: workerName(this.id), cancellations: this.#cancellations },
    });
  }

  /** So many jobs can be claimed by anybody: by this process, or else by those that listen. */
  #share(queue: string, jobs: number): void {
    if (!this.wake(queue, jobs)) this.parts.doorbell?.ring(queue, jobs);
  }

  /** Jobs of queues that are worked elsewhere have become claimable. Those of its own the poller finds with its next look. */
  #notifyOthers(promoted: readonly PromotedJob[]): void {
    for (const { queue } of promoted) if (!this.works(queue)) this.parts.doorbell?.ring(queue, 1);
  }

  /** Reads which queues are paused for all processes, before they are opened: a queue that opens claims at once. */
  async #readPauses(queues: readonly string[]): Promise<void> {
    const survey = await this.parts.store.survey(queues);
    for (const [queue, { paused }] of survey.queues) if (paused) this.#pausedEverywhere.add(queue);
  }

  #onQueue(queue: string, { waiting, paused }: { waiting: boolean; paused: boolean }): boolean {
    if (paused !== this.#pausedEverywhere.has(queue)) {
      this.#turns++;
      if (paused) this.#pausedEverywhere.add(queue);
      else this.#pausedEverywhere.delete(queue);
      this.#applyPauses();
    }
    const worker = this.#queues.of(queue);
    if (!worker) return false;
    if (!waiting || !worker.isOpen) return false;
    worker.wake();
    return !worker.isFull;
  }

  #applyPauses(): void {
    for (const [queue, worker] of this.#queues.byName) {
      const isPaused = this.#pausedHere.has(queue) || this.#pausedEverywhere.has(queue);
      worker.setOpen(!this.#quiet && !isPaused && !this.#leaving.has(queue));
    }
    this.#listener?.listenAnew();
  }

  get #sharesSlots(): boolean {
    return Number.isFinite(this.parts.options.concurrency);
  }

  #onSlotFree(queue: string): void {
    if (this.#sharesSlots) this.#queues.fillInTurn(this.parts.random);
    else this.#queues.of(queue)?.fill();
  }

  #onIdle(queue: string): void {
    if (this.#sharesSlots) {
      this.#queues.fillInTurn(this.parts.random);
      for (const [each, worker] of this.#queues.byName) if (worker.lacksJobs) this.#listener?.listenFor(each);
    } else if (this.#queues.of(queue)?.lacksJobs) this.#listener?.listenFor(queue);
    this.#queues.noteIdle();
  }

  async #untilIdle(): Promise<void> {
    await this.#queues.untilIdle();
    await this.#settler.idle();
  }
}
