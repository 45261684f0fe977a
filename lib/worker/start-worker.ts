import { hostname } from 'node:os';
import type { Limits } from '../job/limits/limit-options.js';
import { QueueRegistrar } from './queue-registrar.js';
import type { Worker } from './worker.js';

/** Registers the worker in the database, and starts to work its queues. */
export async function startWorker(worker: Worker): Promise<void> {
  const { id, parts, registrar, schedules, strategies, lock, pauses, leases, poller, listener, pruner } = worker;
  const queues = worker.queues.names;
  // Declared first, so that a temporary queue is temporary from its first row.
  await registrar.declare();
  await schedules.declare();
  await strategies.choose(queues);
  const excluded = parts.handlers.queues.filter((queue) => !queues.includes(queue));
  await parts.stores.workers.register({ id, host: hostname(), pid: process.pid, queues, excluded });
  await readStates(worker, queues);
  await lock.acquireFor(queues);
  pauses.apply();
  leases.start();
  poller.start();
  listener?.start();
  pruner.start();
  registrar.start();
}

/** Rejects if the declaration of the queue fails, or if the database does not support its strategy. */
export async function addQueue(worker: Worker, queue: string): Promise<void> {
  const { id, parts, queues, strategies, lock, pauses, leases, poller } = worker;
  if (queues.of(queue)) return;
  const registrar = new QueueRegistrar(parts, [queue]);
  await registrar.declare();
  await strategies.choose([queue]);
  await lock.acquireFor([queue]);
  await parts.stores.workers.setQueues(id, [...queues.names, queue]);
  leases.supportLease(parts.optionsFor(queue).leaseMs);
  worker.addedRegistrars.set(queue, registrar);
  registrar.start();
  worker.addQueue(queue);
  await readStates(worker, [queue]);
  pauses.apply();
  // Only a poll can find jobs that the queue already has.
  poller.wake();
}

/** Resolves when the jobs of the queue here have ended or were released, or when the worker has ended. */
export async function removeQueue(worker: Worker, queue: string): Promise<void> {
  const { id, parts, queues, strategies, pauses, listener, addedRegistrars, ended } = worker;
  const removed = queues.of(queue);
  if (!removed) return;
  pauses.remove(queue);
  await queues.untilOneIdle(removed, ended.signal);
  if (ended.signal.aborted) return;
  queues.byName.delete(queue);
  strategies.delete(queue);
  pauses.delete(queue);
  listener?.restartListening();
  const registrar = addedRegistrars.get(queue);
  addedRegistrars.delete(queue);
  await registrar?.stop();
  // The queues in the worker table only inform people, so a failure is ignored.
  await parts.stores.workers.setQueues(id, queues.names).catch(() => undefined);
}

/** Declares the limits of the queues, and reads which ones are paused, because a queue that opens claims at once. */
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
    if (hasGroups) queues.of(queue)?.gate.discoverGroups();
    if (paused || !isEnabled) pauses.setPausedEverywhere(queue, true);
    queues.of(queue)?.setLimited(isLimited || hasOwn, Infinity);
  }
  for (const queue of await stores.limits.declareLimits(limits))
    logger.log(`Another process had declared other limits for queue "${queue}". Now those of this one hold.`, {
      queue,
      workerId: id,
    });
}
