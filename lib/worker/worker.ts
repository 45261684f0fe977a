import { randomUUID } from 'node:crypto';
import type { OwnWork } from '../job/own-work.js';
import type { ChosenStrategy } from '../store/verbs/job-store.js';
import { workerName } from '../store/notifications/notification-channel.js';
import { CancelRequestReader } from './cancel-request-reader.js';
import { Completer } from './complete/completer.js';
import { Rescuer } from './complete/rescuer.js';
import { LeaseRenewer } from './heartbeat/lease-renewer.js';
import { NotificationListener } from './notification-listener.js';
import { Poller } from './poller.js';
import { Pruner } from './pruner.js';
import { OwnClaims } from './queue/active-claim.js';
import { Slots } from './queue/plan.js';
import { QueueWorker } from './queue/queue-worker.js';
import { QueueWorkers } from './queue/queue-workers.js';
import type { WorkerContext } from './queue/worker-context.js';
import { QueuePauses } from './queue-pauses.js';
import { QueueRegistrar } from './queue-registrar.js';
import { RunTimeSettings } from './run-time-settings.js';
import { JobLogWriter } from './run/job-log-writer.js';
import { ScheduleRunner } from './schedule-runner.js';
import { WorkerEntry } from './worker-entry.js';
import { WorkerLockHolder } from './worker-lock-holder.js';
import type { WorkerParts } from './worker-parts.js';
import { hostname } from 'node:os';
import type { Limits } from '../job/limits/limit-options.js';
import { withTimeout } from '../common/abort.js';
import { ShutdownError } from '../job/errors.js';

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
  const registrar = new QueueRegistrar(parts, names);
  const addedRegistrars = new Map<string, QueueRegistrar>();
  // Declared first, so that a temporary queue is temporary from its first row.
  const declare = async () => {
    for (const each of [registrar, ...addedRegistrars.values()]) await each.declare();
  };
  const excluded = parts.handlers.queues.filter((queue) => !names.includes(queue));
  const slots = Number.isFinite(workerOptions.concurrency) ? workerOptions.concurrency : null;
  const own = { id, host: hostname(), pid: process.pid, slots, excluded };
  const entry = new WorkerEntry(stores.workers, () => ({ ...own, queues: queues.slots }), declare);
  const settings = new RunTimeSettings(parts, queues, pauses, entry);
  const completer = new Completer(jobs, clock, logger, queues, parts.instrumentations.ofDatabase);
  const shortestLeaseMs = Math.min(...names.map((queue) => optionsFor(queue).leaseMs));
  const ownClaims = new OwnClaims();
  const leases = new LeaseRenewer(parts, id, ownClaims, queues, shortestLeaseMs, () => entry.restore());
  const cancelRequestReader = new CancelRequestReader(jobs, clock, ownClaims, queues);
  const ownWork: OwnWork = {
    isHeld: (claimId) => ownClaims.isHeld(claimId),
    isRunning: (claimId, jobId) => queues.isRunning(claimId, jobId),
  };
  const announce = (queue: string, count: number) => queues.announce(queue, count);
  const expectDue = (_: string, ms: number): void => poller.expectDue(ms);
  const rescuer = new Rescuer({ ...parts, ownWork, announce, expectDue });
  const lock = new WorkerLockHolder(parts, id, rescuer, queues, ownClaims);
  const schedules = new ScheduleRunner(parts, names, announce);
  const poller: Poller = new Poller(parts, queues, schedules, settings, rescuer);
  const listener: NotificationListener | undefined =
    workerChannel &&
    new NotificationListener(parts, workerChannel, workerName(id), queues, poller, cancelRequestReader);
  queues.listener = listener;
  const context: WorkerContext = {
    ...parts,
    workerId: id,
    slots: new Slots(workerOptions.concurrency),
    completer,
    ownClaims,
    leases,
    jobLogWriter: new JobLogWriter(stores.jobLogs, parts.waitNotifier, clock, logger),
    lock,
    queues,
    expectDue,
    announce,
  };
  const addQueue = (queue: string, strategy: ChosenStrategy) => {
    // Until its state is read and its limits are declared. Another queue may be resumed, or a notification come, before.
    pauses.close(queue);
    queues.byName.set(queue, new QueueWorker(context, queue, strategy));
  };
  return {
    id,
    parts,
    queues,
    addQueue,
    pauses,
    settings,
    completer,
    leases,
    lock,
    cancelRequestReader,
    ownWork,
    schedules,
    poller,
    listener,
    pruner: new Pruner(parts.pruneTasks, clock, random, logger),
    registrar,
    /** Of queues that were added later. */
    addedRegistrars,
    declare,
    entry,
    ended: new AbortController(),
  };
}

/** Registers the worker in the database, and starts to work the queues for which it was created. */
export async function startWorker(worker: Worker, names: readonly string[]): Promise<void> {
  const { parts, declare, entry, registrar, schedules, lock, pauses, leases, poller, listener, pruner } = worker;
  await declare();
  await schedules.declare();
  const strategies = await chooseStrategies(parts, names);
  for (const [queue, strategy] of strategies) worker.addQueue(queue, strategy);
  try {
    await entry.register();
    await readStates(worker, names);
    await lock.acquireFor(strategies);
  } catch (error) {
    // For a minute its row would count as a worker that serves the queues.
    await withTimeout(parts.clock, DEREGISTER_TIMEOUT_MS, entry.deregister()).catch(() => false);
    throw error;
  }
  for (const queue of names) pauses.open(queue);
  pauses.apply(false);
  leases.start();
  poller.start();
  listener?.start();
  pruner.start();
  registrar.start();
}

/**
 * Rejects if the declaration of the queue fails, or if the database does not support its strategy. The worker does not
 * work the queue then. It may become quiet and stop meanwhile.
 */
export async function addQueue(worker: Worker, queue: string): Promise<void> {
  const { id, parts, queues, lock, pauses, entry, leases, poller } = worker;
  if (queues.of(queue)) return;
  const registrar = new QueueRegistrar(parts, [queue]);
  await registrar.declare();
  const strategies = await chooseStrategies(parts, [queue]);
  await lock.acquireFor(strategies);
  try {
    await parts.stores.workers.setQueues(id, queues.slots.set(queue, parts.optionsFor(queue).concurrency));
    // The end of the worker stops what was started before.
    if (pauses.isQuiet) return;
    leases.supportLease(parts.optionsFor(queue).leaseMs);
    worker.addedRegistrars.set(queue, registrar);
    registrar.start();
    worker.addQueue(queue, strategies.get(queue)!);
    // A change of the slots may have replaced the row meanwhile.
    void entry.save();
    await readStates(worker, [queue]);
  } catch (error) {
    await forgetQueue(worker, queue);
    throw error;
  }
  pauses.open(queue);
  pauses.apply(false);
  // Only a poll can find jobs that the queue already has.
  poller.wake();
}

/** Resolves when the jobs of the queue here have ended or were released, or when the worker has ended. */
export async function removeQueue(worker: Worker, queue: string): Promise<void> {
  const { queues, pauses, ended } = worker;
  const removed = queues.of(queue);
  if (!removed) return;
  pauses.close(queue);
  pauses.apply();
  await queues.untilOneIdle(removed, ended.signal);
  if (!ended.signal.aborted) await forgetQueue(worker, queue);
}

/** The queue is closed and has no jobs here. */
async function forgetQueue(worker: Worker, queue: string): Promise<void> {
  const { queues, pauses, entry, listener, addedRegistrars } = worker;
  queues.byName.delete(queue);
  pauses.delete(queue);
  listener?.restartListening();
  const registrar = addedRegistrars.get(queue);
  addedRegistrars.delete(queue);
  await registrar?.stop();
  await entry.save();
}

/** Rejects if the database does not support the requested strategy of a queue. */
async function chooseStrategies(
  { stores, logger, optionsFor }: WorkerParts,
  names: readonly string[],
): Promise<ReadonlyMap<string, ChosenStrategy>> {
  const { byQueue, notice } = await stores.jobs.chooseStrategies(
    new Map(names.map((queue) => [queue, optionsFor(queue).claim])),
  );
  if (notice !== undefined) logger.warn(notice);
  return byQueue;
}

/** Declares the limits of the queues, and reads which ones are paused: a queue that opens may claim at once. */
async function readStates({ id, parts, queues, pauses, settings }: Worker, names: readonly string[]): Promise<void> {
  const { stores, clock, databaseClock, optionsFor, logger } = parts;
  const readAt = clock.monotonic();
  const summary = await stores.jobs.summarizeWork(names);
  if (summary.atMs !== null) databaseClock.learn(summary.atMs, readAt);
  const limits = new Map<string, Limits>();
  for (const queue of names) {
    const state = summary.queues.get(queue);
    const { paused = false, isLimited = false, hasGroups = false } = state ?? {};
    const isEnabled = settings.apply(queue, state ?? { concurrency: null, isEnabled: true });
    const own = optionsFor(queue).limits;
    const hasOwn = own.maxRunning !== null || own.rate !== null;
    if (isLimited || hasOwn) limits.set(queue, own);
    if (hasGroups) queues.of(queue)?.discoverGroups();
    pauses.setPausedEverywhere(queue, paused || !isEnabled);
  }
  for (const queue of await stores.limits.declareLimits(limits))
    logger.log(`Another process had declared other limits for queue "${queue}". Now those of this one hold.`, {
      queue,
      workerId: id,
    });
  for (const queue of limits.keys()) queues.of(queue)?.onLimitsDeclared();
}

// Handlers have this long to honour an aborted signal. Then the worker releases their jobs while they still run.
const ABORT_GRACE_MS = 1_000;
// The limit of `drainWorker` beyond its timeout, including the grace. Reached if the database does not answer. More than
// three seconds are left to store the last outcomes: a cut off release makes its job wait for the end of its lease.
export const SHUTDOWN_OVERTIME_MS = 4_500;
// The part of the overtime that is reserved for deregistration when the database does not store the last outcomes.
const DEREGISTER_RESERVE_MS = 250;
// The limit for deregistration if all outcomes are stored.
const DEREGISTER_TIMEOUT_MS = 5_000;

/** First phase of stopping: stops claiming, and releases prefetched jobs. */
export function quietWorker(worker: Worker): void {
  if (worker.pauses.isQuiet) return;
  worker.pauses.quiet();
  void stopLoops(worker);
}

/**
 * Second phase of stopping: waits up to `timeoutMs` for running jobs, then aborts them, then releases them, and
 * deregisters the worker. Ends at most 4.5 s after `timeoutMs`, even if the database does not answer.
 */
export async function drainWorker(worker: Worker, timeoutMs: number): Promise<void> {
  quietWorker(worker);
  const { id, completer, queues, ended } = worker;
  const { clock, logger } = worker.parts;
  if (queues.running > 0 && timeoutMs > 0)
    logger.log(`Stopping within ${timeoutMs / 1_000} s: ${running(queues)}.`, { workerId: id });
  const endsAt = clock.monotonic() + timeoutMs + SHUTDOWN_OVERTIME_MS;
  const remainingMs = () => endsAt - clock.monotonic();
  if (!(await withTimeout(clock, timeoutMs, untilIdle(worker)))) await abortRunning(worker, timeoutMs);
  if (!(await withTimeout(clock, remainingMs() - DEREGISTER_RESERVE_MS, untilIdle(worker)))) {
    completer.stopRetrying();
    // The completer tries deferred outcomes once more.
    await withTimeout(clock, remainingMs(), completer.idle());
  }
  await withTimeout(clock, Math.min(remainingMs(), DEREGISTER_TIMEOUT_MS), deregister(worker));
  ended.abort();
  queues.notifyIdle();
}

/** Resolves when no job runs here and a new poll finds none to run. */
export async function workerIdle(worker: Worker): Promise<void> {
  const { pauses, poller, queues } = worker;
  await untilIdle(worker);
  for (let claimedCount = -1, hasFound = true; !pauses.isQuiet && (hasFound || claimedCount < queues.claimedCount);) {
    ({ claimedCount } = queues);
    hasFound = await poller.pollNow();
    await untilIdle(worker);
  }
}

/** May be called twice. */
function stopLoops({ poller, pruner, listener }: Worker): Promise<unknown> {
  return Promise.all([poller.stop(), pruner.stop(), listener?.stop()]);
}

async function deregister(worker: Worker): Promise<void> {
  const { parts, entry, leases, cancelRequestReader, lock, registrar, addedRegistrars } = worker;
  const deregistering = Promise.all([
    stopLoops(worker),
    leases.stop(),
    cancelRequestReader.stop(),
    lock.stop(),
    registrar.stop(),
    ...[...addedRegistrars.values()].map((each) => each.stop()),
    entry.deregister(),
  ]);
  // A row that stays counts for a minute as a worker that serves the queues, and the pruner deletes it after a day.
  await deregistering.catch(() => undefined);
  await parts.events.idle();
}

async function abortRunning(worker: Worker, timeoutMs: number): Promise<void> {
  const { id, queues, parts } = worker;
  if (queues.running === 0) return;
  parts.logger.warn(`${running(queues)} after ${timeoutMs / 1_000} s: aborting and releasing.`, { workerId: id });
  queues.abortAll(new ShutdownError());
  if (!(await withTimeout(parts.clock, ABORT_GRACE_MS, untilIdle(worker)))) queues.releaseAll();
}

function running({ running: count }: QueueWorkers): string {
  return count === 1 ? '1 job is running' : `${count} jobs are running`;
}

async function untilIdle({ queues, completer }: Worker): Promise<void> {
  await queues.untilIdle();
  await completer.idle();
}
