import { randomUUID } from 'node:crypto';
import type { OwnWork } from '../job/own-work.js';
import { workerName } from '../store/notifications/notification-channel.js';
import { CancelRequestReader } from './cancel-request-reader.js';
import { Completer } from './complete/completer.js';
import { Rescuer } from './complete/rescuer.js';
import { LeaseRenewer } from './heartbeat/lease-renewer.js';
import { NotificationListener } from './notification-listener.js';
import { Poller } from './poller.js';
import { Pruner } from './pruner.js';
import { startAheadLimitOf } from './queue/plan.js';
import { Slots } from './queue/queue-slots.js';
import { QueueStrategies } from './queue/queue-strategies.js';
import { QueueWorker } from './queue/queue-worker.js';
import { QueueWorkers } from './queue/queue-workers.js';
import type { WorkerContext } from './queue/worker-context.js';
import { QueuePauses } from './queue-pauses.js';
import { QueueRegistrar } from './queue-registrar.js';
import { RunTimeSettings } from './run-time-settings.js';
import { JobLogWriter } from './run/job-log-writer.js';
import { ScheduleRunner } from './schedule-runner.js';
import { WorkerLockHolder } from './worker-lock-holder.js';
import type { WorkerParts } from './worker-parts.js';

/** All parts of a worker, from one start of the runner to its stop. */
export type Worker = ReturnType<typeof createWorker>;

/**
 * Creates the parts of a worker and connects them. `startWorker` starts it.
 *
 * @param isPausedHere whether a queue is paused in this process now
 */
export function createWorker(parts: WorkerParts, names: readonly string[], isPausedHere: (queue: string) => boolean) {
  const { stores, clock, logger, random, optionsFor, workerOptions } = parts;
  const { jobs, workerChannel } = stores;
  const id = randomUUID();
  const queues = new QueueWorkers(parts, id);
  const pauses = new QueuePauses(queues, isPausedHere, () => listener?.restartListening());
  const settings = new RunTimeSettings(parts, queues, pauses);
  const strategies = new QueueStrategies(jobs, logger, optionsFor);
  const completer = new Completer(
    jobs,
    clock,
    logger,
    (claim) => startAheadLimitOf(claim, queues.of(claim.queue)),
    (claim) => queues.abandon(claim),
    parts.instrumentations.ofDatabase,
  );
  const leases = new LeaseRenewer(parts, id, queues, Math.min(...names.map((queue) => optionsFor(queue).leaseMs)));
  const cancelRequestReader = new CancelRequestReader(jobs, clock, leases, queues);
  const ownWork: OwnWork = {
    isHeld: (claimId) => leases.isHeld(claimId),
    isRunning: (claimId, jobId) => queues.isRunning(claimId, jobId),
  };
  const announce = (queue: string, count: number) => queues.announce(queue, count);
  const expectDue = (_: string, ms: number): void => poller.expectDue(ms);
  const rescuer = new Rescuer({ ...parts, ownWork, announce, expectDue });
  const lock = new WorkerLockHolder(parts, id, rescuer, strategies, queues, leases);
  const schedules = new ScheduleRunner(parts, names, announce);
  const poller: Poller = new Poller(parts, queues, schedules, settings, rescuer);
  const listener: NotificationListener | undefined =
    workerChannel &&
    new NotificationListener(parts, workerChannel, workerName(id), queues, poller, cancelRequestReader);
  const context: WorkerContext = {
    ...parts,
    workerId: id,
    slots: new Slots(workerOptions.concurrency),
    completer,
    leases,
    jobLogWriter: new JobLogWriter(stores.jobLogs, parts.waitNotifier, clock, logger),
    strategies,
    lockId: (queue) => lock.idFor(queue),
    rest: (job, rest) => queues.rest(job, rest),
    expectDue,
    announce,
    onSlotFree: (queue) => queues.onSlotFree(queue),
    onIdle: (queue) => queues.onIdle(queue, listener),
  };
  const addQueue = (queue: string) => void queues.byName.set(queue, new QueueWorker(context, queue));
  for (const queue of names) addQueue(queue);
  return {
    id,
    parts,
    queues,
    addQueue,
    pauses,
    settings,
    strategies,
    completer,
    leases,
    lock,
    cancelRequestReader,
    ownWork,
    schedules,
    poller,
    listener,
    pruner: new Pruner(parts.pruneTasks, clock, random, logger),
    registrar: new QueueRegistrar(parts, names),
    /** Of queues that were added later. */
    addedRegistrars: new Map<string, QueueRegistrar>(),
    ended: new AbortController(),
  };
}
