import { groupBy } from '../common/group-by.js';
import { ClientEvents } from '../events/client-events.js';
import { JobEventEmitter } from '../events/job-event-emitter.js';
import type { ClaimedJob } from '../job/job.js';
import type { Delay } from '../job/outcome.js';
import { rescueRules } from '../job/rescue-rules.js';
import type { RescueRules } from '../store/jobs/job-store.js';
import { workerName, type NotificationChannel } from '../store/notifications/notification-channel.js';
import { CancelRequestReader } from './cancel-request-reader.js';
import { Completer } from './complete/completer.js';
import { FailureLog } from './complete/failure-log.js';
import { RescueEffects } from './complete/rescue-effects.js';
import { LoopHeartbeat } from './heartbeat/heartbeat.js';
import { LeaseRenewer } from './heartbeat/lease-renewer.js';
import { NotificationListener } from './notification-listener.js';
import { PollEffects } from './poll-effects.js';
import { Poller } from './poller.js';
import { Pruner } from './pruner.js';
import { ScheduleRunner } from './schedule-runner.js';
import { QueuePauses } from './queue-pauses.js';
import { RunTimeSettings } from './run-time-settings.js';
import { QueueStrategies } from './queue/queue-strategies.js';
import { QueueWorker } from './queue/queue-worker.js';
import { QueueWorkers } from './queue/queue-workers.js';
import { Slots } from './queue/queue-slots.js';
import { JobLogWriter } from './run/job-log-writer.js';
import { WorkAnnouncer } from './work-announcer.js';
import { WorkerLockHolder } from './worker-lock-holder.js';
import type { WorkerParts } from './worker-parts.js';

/** Creates the objects that a worker consists of, and connects them. */
export class WorkerComponents {
  readonly queues = new QueueWorkers();
  readonly pauses: QueuePauses;
  readonly settings: RunTimeSettings;
  readonly strategies: QueueStrategies;
  readonly completer: Completer;
  readonly leases: LeaseRenewer;
  readonly cancelRequestReader: CancelRequestReader;
  readonly schedules: ScheduleRunner;
  readonly poller: Poller;
  readonly listener: NotificationListener | undefined;
  readonly pruner: Pruner;
  readonly #announcer: WorkAnnouncer;
  readonly #pollEffects: PollEffects;
  readonly #jobEvents: JobEventEmitter;
  readonly #jobLog: JobLogWriter;
  readonly #rescueRules: RescueRules;
  readonly #failureLog: FailureLog;
  readonly #rescueEffects: RescueEffects;
  readonly #slots: Slots;
  #lockHolder: WorkerLockHolder | undefined;

  constructor(
    private readonly workerId: string,
    private readonly parts: WorkerParts,
    queueNames: readonly string[],
    pausedQueues: readonly string[],
  ) {
    const { store, clock, databaseClock, logger, random, options, optionsFor, events, waitNotifier } = parts;
    const { queues } = this;
    this.pauses = new QueuePauses(queues, pausedQueues, () => this.listener?.restartListening());
    this.settings = new RunTimeSettings({ queues, optionsFor, logger });
    this.strategies = new QueueStrategies(parts);
    this.completer = new Completer(
      store,
      clock,
      logger,
      (claim) => queues.of(claim.queue)?.startAheadLimit(claim) ?? 0,
      (claim) => queues.abandon(claim),
    );
    this.leases = new LeaseRenewer({
      workerId,
      clock,
      logger,
      queues,
      shortestLeaseMs: Math.min(...queueNames.map((queue) => optionsFor(queue).leaseMs)),
      createHeartbeat:
        parts.createHeartbeat ?? ((settings) => new LoopHeartbeat(store, parts.workerRegistry, clock, settings)),
    });
    this.cancelRequestReader = new CancelRequestReader(store, clock, this.leases, queues);
    this.#slots = new Slots(options.concurrency);
    this.#jobEvents = new JobEventEmitter(events);
    this.#jobLog = new JobLogWriter(parts.jobLogs, waitNotifier, clock, logger);
    this.#announcer = new WorkAnnouncer(queues, parts.workerChannel);
    this.#rescueRules = rescueRules(optionsFor, parts);
    this.#failureLog = new FailureLog(logger, optionsFor);
    this.#rescueEffects = new RescueEffects({
      events,
      waitNotifier,
      logger,
      failureLog: this.#failureLog,
      instrumentations: parts.instrumentations,
      flowSettler: parts.flowSettler,
      announce: (queue, jobs) => this.#announcer.announce(queue, jobs),
      expectDue: (_, ms) => this.poller.expectDue(ms),
    });
    this.#pollEffects = new PollEffects(
      queues,
      this.pauses,
      this.settings,
      this.#announcer,
      this.#jobEvents,
      this.#rescueEffects,
      waitNotifier,
    );
    this.schedules = new ScheduleRunner(
      parts.schedules,
      { logger, events: new ClientEvents(events), announce: (queue, jobs) => this.#announcer.announce(queue, jobs) },
      queueNames,
    );
    this.poller = new Poller({
      store,
      clock,
      logger,
      random,
      queues,
      minMs: options.pollMinMs,
      maxMs: options.pollMaxMs,
      rules: this.#rescueRules,
      schedules: this.schedules,
      effects: this.#pollEffects,
      databaseClock,
    });
    this.listener = parts.workerChannel && this.#createListener(parts.workerChannel);
    this.pruner = new Pruner(parts.pruneTasks, clock, logger, random);
    for (const queue of queueNames) this.addQueue(queue);
  }

  addQueue(queue: string): void {
    this.queues.byName.set(queue, this.#createQueueWorker(queue));
  }

  async acquireLockIfNeeded(queues: readonly string[]): Promise<void> {
    if (this.#lockHolder || !queues.some((queue) => this.strategies.isByLock(queue))) return;
    const holder = this.#createLockHolder();
    await holder.start();
    this.#lockHolder = holder;
  }

  async releaseLock(): Promise<void> {
    await this.#lockHolder?.stop();
  }

  #createQueueWorker(queue: string): QueueWorker {
    const { store, steps, flows, flowSettler, clock, logger, random, handlers, optionsFor, waitNotifier } = this.parts;
    return new QueueWorker({
      queue,
      store,
      steps,
      flows,
      flowSettler,
      optionsFor,
      onEnqueued: (jobs) => this.#onEnqueued(jobs),
      clock,
      logger,
      random,
      workerId: this.workerId,
      options: optionsFor(queue),
      slots: this.#slots,
      completer: this.completer,
      leases: this.leases,
      jobLog: this.#jobLog,
      events: this.#jobEvents,
      waitNotifier,
      failureLog: this.#failureLog,
      instrumentations: this.parts.instrumentations,
      handlers,
      rest: (job, rest) => this.#rest(job, rest),
      expectDue: (ms) => this.poller.expectDue(ms),
      announce: (target, jobs) => this.#announcer.announce(target, jobs),
      strategies: this.strategies,
      lockId: () => (this.strategies.isByLock(queue) ? this.#lockHolder?.id : 0),
      onSlotFree: () => this.#onSlotFree(queue),
      onIdle: () => this.#onIdle(queue),
    });
  }

  #onEnqueued(jobs: readonly { id: number; queue: string; name: string }[]): void {
    new ClientEvents(this.parts.events).emit('enqueued', jobs);
    for (const [queue, { length }] of groupBy(jobs, (job) => job.queue)) this.#announcer.announce(queue, length);
  }

  async #rest({ queue, group }: Pick<ClaimedJob, 'queue' | 'group'>, rest: Delay): Promise<void> {
    const { limits, groups, logger, workerChannel } = this.parts;
    const what = group === null ? `queue "${queue}"` : `group "${group}" of queue "${queue}"`;
    // Without the rest, the next call fails like this one and asks for it again.
    const stored = (group === null ? limits.rest(queue, rest) : groups.rest(queue, group, rest)).catch((error: Error) =>
      logger.warn(`Cannot let ${what} rest: ${error.message}`),
    );
    if (group !== null) return stored;
    void this.queues.of(queue)?.rest(stored);
    await stored;
    workerChannel?.notifyAll();
  }

  #createLockHolder(): WorkerLockHolder {
    const { workerLocks, clock, logger, optionsFor } = this.parts;
    const { strategies } = this;
    return new WorkerLockHolder({
      store: workerLocks!,
      clock,
      logger,
      workerId: this.workerId,
      rules: this.#rescueRules,
      shortestLeaseMs: () => Math.min(...strategies.queuesByLock.map((queue) => optionsFor(queue).leaseMs)),
      onRescued: (rescued) => this.#rescueEffects.onRescued(rescued),
      onAcquired: () => strategies.queuesByLock.forEach((queue) => this.queues.of(queue)?.wake()),
      // The lock that protects these claims is lost.
      onLost: () => {
        for (const claim of this.leases.claims) if (strategies.isByLock(claim.queue)) this.queues.abandon(claim);
      },
    });
  }

  #createListener(channel: NotificationChannel): NotificationListener {
    const { clock, logger, random, options } = this.parts;
    return new NotificationListener({
      channel,
      clock,
      logger,
      random,
      pollMaxMs: options.pollMaxMs,
      name: workerName(this.workerId),
      queues: this.queues.byName,
      poller: this.poller,
      pollEffects: this.#pollEffects,
      cancelRequestReader: this.cancelRequestReader,
    });
  }

  get #hasSharedSlots(): boolean {
    return Number.isFinite(this.parts.options.concurrency);
  }

  #onSlotFree(queue: string): void {
    if (this.#hasSharedSlots) this.queues.fillInTurn(this.parts.random);
    else this.queues.of(queue)?.fill();
  }

  #onIdle(queue: string): void {
    if (this.#hasSharedSlots) this.queues.fillInTurn(this.parts.random);
    const candidates = this.#hasSharedSlots ? this.queues.names : [queue];
    for (const name of candidates) if (this.queues.of(name)?.lacksJobs) this.listener?.listenFor(name);
    this.queues.notifyIdle();
  }
}
