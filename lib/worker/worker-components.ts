import { logText } from '../common/log-text.js';
import type { ClaimedJob } from '../job/job.js';
import type { Delay } from '../job/outcome.js';
import type { OwnWork } from '../job/own-work.js';
import { workerName } from '../store/notifications/notification-channel.js';
import { CancelRequestReader } from './cancel-request-reader.js';
import { Completer } from './complete/completer.js';
import { Rescuer } from './complete/rescuer.js';
import { LeaseRenewer } from './heartbeat/lease-renewer.js';
import { NotificationListener } from './notification-listener.js';
import { Poller } from './poller.js';
import { Pruner } from './pruner.js';
import { ScheduleRunner } from './schedule-runner.js';
import { QueuePauses } from './queue-pauses.js';
import { RunTimeSettings } from './run-time-settings.js';
import { startAheadLimitOf } from './queue/plan.js';
import { QueueStrategies } from './queue/queue-strategies.js';
import { QueueWorker } from './queue/queue-worker.js';
import { QueueWorkers } from './queue/queue-workers.js';
import { Slots } from './queue/queue-slots.js';
import { JobLogWriter } from './run/job-log-writer.js';
import type { WorkerContext } from './queue/worker-context.js';
import { WorkerLockHolder } from './worker-lock-holder.js';
import type { WorkerParts } from './worker-parts.js';

/** Creates the objects that a worker consists of, and connects them. */
export class WorkerComponents {
  readonly queues: QueueWorkers;
  readonly pauses: QueuePauses;
  readonly settings: RunTimeSettings;
  readonly strategies: QueueStrategies;
  readonly completer: Completer;
  readonly leases: LeaseRenewer;
  readonly cancelRequestReader: CancelRequestReader;
  readonly schedules: ScheduleRunner;
  readonly ownWork: OwnWork;
  readonly poller: Poller;
  readonly listener: NotificationListener | undefined;
  readonly pruner: Pruner;
  readonly #rescuer: Rescuer;
  readonly #context: WorkerContext;
  #lockHolder: WorkerLockHolder | undefined;

  constructor(
    private readonly workerId: string,
    private readonly parts: WorkerParts,
    queueNames: readonly string[],
    isPausedHere: (queue: string) => boolean,
  ) {
    const { stores, clock, logger, random, workerOptions, optionsFor, waitNotifier } = parts;
    const { jobs: store, workerChannel } = stores;
    const queues = new QueueWorkers(workerChannel);
    const announce = (queue: string, jobs: number) => queues.announce(queue, jobs);
    this.queues = queues;
    this.pauses = new QueuePauses(queues, isPausedHere, () => this.listener?.restartListening());
    this.settings = new RunTimeSettings({ queues, pauses: this.pauses, optionsFor, logger });
    this.strategies = new QueueStrategies(store, logger, optionsFor);
    this.completer = new Completer(
      store,
      clock,
      logger,
      (claim) => startAheadLimitOf(claim, queues.of(claim.queue)),
      (claim) => queues.abandon(claim),
      parts.instrumentations.ofDatabase,
    );
    const shortestLeaseMs = Math.min(...queueNames.map((queue) => optionsFor(queue).leaseMs));
    this.leases = new LeaseRenewer(parts, workerId, queues, shortestLeaseMs);
    this.cancelRequestReader = new CancelRequestReader(store, clock, this.leases, queues);
    this.ownWork = {
      isHeld: (claimId) => this.leases.isHeld(claimId),
      isRunning: (claimId, jobId) => queues.isRunning(claimId, jobId),
    };
    const expectDue = (_: string, ms: number) => this.poller.expectDue(ms);
    this.#rescuer = new Rescuer({ ...parts, ownWork: this.ownWork, announce, expectDue });
    this.schedules = new ScheduleRunner(parts, queueNames, announce);
    this.poller = new Poller(parts, queues, this.schedules, this.settings, this.#rescuer);
    const { poller, cancelRequestReader } = this;
    this.listener =
      workerChannel &&
      new NotificationListener(parts, workerChannel, workerName(workerId), queues, poller, cancelRequestReader);
    this.pruner = new Pruner(parts.pruneTasks, clock, random, logger);
    this.#context = {
      ...parts,
      workerId,
      slots: new Slots(workerOptions.concurrency),
      completer: this.completer,
      leases: this.leases,
      jobLogWriter: new JobLogWriter(stores.jobLogs, waitNotifier, clock, logger),
      strategies: this.strategies,
      lockId: (queue) => (this.strategies.isByLock(queue) ? this.#lockHolder?.id : 0),
      rest: (job, rest) => this.#rest(job, rest),
      expectDue,
      announce,
      onSlotFree: (queue) => this.#onSlotFree(queue),
      onIdle: (queue) => this.#onIdle(queue),
    };
    for (const queue of queueNames) this.addQueue(queue);
  }

  addQueue(queue: string): void {
    this.queues.byName.set(queue, new QueueWorker(this.#context, queue));
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

  async #rest({ queue, group }: Pick<ClaimedJob, 'queue' | 'group'>, rest: Delay): Promise<void> {
    const { stores, logger } = this.parts;
    const { limits, groups, workerChannel } = stores;
    const what = group === null ? `queue "${queue}"` : `group "${group}" of queue "${queue}"`;
    // Without the rest, the next call fails like this one and asks for it again.
    const stored = (group === null ? limits.rest(queue, rest) : groups.rest(queue, group, rest)).catch((error: Error) =>
      logger.warn(`Cannot let ${what} rest: ${logText(error.message)}`, { queue, workerId: this.workerId }),
    );
    if (group !== null) return stored;
    void this.queues.of(queue)?.rest(stored);
    await stored;
    workerChannel?.notifyAll();
  }

  #createLockHolder(): WorkerLockHolder {
    const { strategies, queues, parts } = this;
    const shortestLeaseMs = () => Math.min(...strategies.queuesByLock.map((queue) => parts.optionsFor(queue).leaseMs));
    return new WorkerLockHolder(parts, this.workerId, this.#rescuer, shortestLeaseMs, {
      onAcquired: () => strategies.queuesByLock.forEach((queue) => queues.of(queue)?.wake()),
      // The lock that protects these claims is lost.
      onLost: () => {
        for (const claim of this.leases.claims) if (strategies.isByLock(claim.queue)) queues.abandon(claim);
      },
    });
  }

  get #hasSharedSlots(): boolean {
    return Number.isFinite(this.parts.workerOptions.concurrency);
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
