import { withTimeout } from '../common/with-timeout.js';
import { ShutdownError } from '../job/errors.js';
import type { Worker } from './worker.js';

// Handlers have this long to honour an aborted signal. Then the worker releases their jobs while they still run.
const ABORT_GRACE_MS = 1_000;
// The limit of `drainWorker` beyond its timeout, including the grace. Reached if the database does not answer. More than
// three seconds are left to store the last outcomes: a cut off release makes its job wait for the end of its lease.
const SHUTDOWN_OVERTIME_MS = 4_500;
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
  const { completer, queues, ended } = worker;
  const { clock } = worker.parts;
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
  const { id, parts, leases, cancelRequestReader, lock, registrar, addedRegistrars } = worker;
  const deregistering = Promise.all([
    stopLoops(worker),
    leases.stop(),
    cancelRequestReader.stop(),
    lock.stop(),
    registrar.stop(),
    ...[...addedRegistrars.values()].map((each) => each.stop()),
    parts.stores.workers.deregister(id),
  ]);
  // A worker that stays registered is harmless: the pruner deletes it after a day.
  await deregistering.catch(() => undefined);
  await parts.events.idle();
}

async function abortRunning(worker: Worker, timeoutMs: number): Promise<void> {
  const { id, queues, parts } = worker;
  const { running } = queues;
  if (running === 0) return;
  parts.logger.warn(`${running} job(s) still running after ${timeoutMs} ms: aborting and releasing them.`, {
    workerId: id,
  });
  queues.abortAll(new ShutdownError());
  if (!(await withTimeout(parts.clock, ABORT_GRACE_MS, untilIdle(worker)))) queues.releaseAll();
}

async function untilIdle({ queues, completer }: Worker): Promise<void> {
  await queues.untilIdle();
  await completer.idle();
}
