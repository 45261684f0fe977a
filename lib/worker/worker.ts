import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { withTimeout } from '../common/with-timeout.js';
import { ShutdownError } from '../job/errors.js';
import type { Limits } from '../job/limits/limit-options.js';
import { QueueRegistrar } from './queue-registrar.js';
import type { WorkerHealth } from './runner-health.js';
import { WorkerComponents } from './worker-components.js';
import type { WorkerParts } from './worker-parts.js';

// Handlers have this long to honour an aborted signal. Then the worker releases their jobs while they still run.
const ABORT_GRACE_MS = 1_000;
// The limit of `drain` beyond its timeout, including the grace. Reached if the database does not answer. More than three
// seconds are left to store the last outcomes: a cut off release makes its job wait for the end of its lease.
const SHUTDOWN_OVERTIME_MS = 4_500;
// The part of the overtime that is reserved for deregistration when the database does not store the last outcomes.
const DEREGISTER_RESERVE_MS = 250;
// The limit for deregistration if all outcomes are stored.
const DEREGISTER_TIMEOUT_MS = 5_000;

/** Works the queues of this process, from registration in the database to deregistration. It starts once. */
export class Worker {
  readonly id = randomUUID();
  readonly components: WorkerComponents;
  readonly #registrar: QueueRegistrar;
  readonly #addedRegistrars = new Map<string, QueueRegistrar>();
  readonly #ended = new AbortController();
  #loopsStopped: Promise<unknown> = Promise.resolve();

  /** @param isPausedHere whether a queue is paused in this process now */
  constructor(
    private readonly parts: WorkerParts,
    private readonly queueNames: readonly string[],
    isPausedHere: (queue: string) => boolean,
  ) {
    this.components = new WorkerComponents(this.id, parts, queueNames, isPausedHere);
    this.#registrar = new QueueRegistrar(parts, queueNames);
  }

  get health(): WorkerHealth {
    const { poller, queues } = this.components;
    const prefetched = queues.occupancy.reduce((sum, queue) => sum + queue.prefetched, 0);
    return { ...poller.health.read(), running: queues.running, prefetched };
  }

  async start(): Promise<void> {
    const { pauses, strategies, schedules, leases, poller, listener, pruner } = this.components;
    // Declared first, so that a temporary queue is temporary from its first row.
    await this.#registrar.declare();
    await schedules.declare();
    await strategies.choose(this.queueNames);
    const { id, queueNames: queues } = this;
    const excluded = this.parts.handlers.queues.filter((queue) => !queues.includes(queue));
    await this.parts.stores.workers.register({ id, host: hostname(), pid: process.pid, queues, excluded });
    await this.#readStates(this.queueNames);
    await this.components.acquireLockIfNeeded(this.queueNames);
    pauses.apply();
    leases.start();
    poller.start();
    listener?.start();
    pruner.start();
    this.#registrar.start();
  }

  /** Rejects if the declaration of the queue fails, or if the database does not support its strategy. */
  async add(queue: string): Promise<void> {
    const { pauses, strategies, leases, poller, queues } = this.components;
    if (queues.of(queue)) return;
    const registrar = new QueueRegistrar(this.parts, [queue]);
    await registrar.declare();
    await strategies.choose([queue]);
    await this.components.acquireLockIfNeeded([queue]);
    await this.parts.stores.workers.setQueues(this.id, [...queues.names, queue]);
    leases.supportLease(this.parts.optionsFor(queue).leaseMs);
    this.#addedRegistrars.set(queue, registrar);
    registrar.start();
    this.components.addQueue(queue);
    await this.#readStates([queue]);
    pauses.apply();
    // Only a poll can find jobs that the queue already has.
    poller.wake();
  }

  /** Resolves when the jobs of the queue here have ended or were released, or when the worker has ended. */
  async remove(queue: string): Promise<void> {
    const { pauses, strategies, listener, queues } = this.components;
    const worker = queues.of(queue);
    if (!worker) return;
    pauses.remove(queue);
    await queues.untilOneIdle(worker, this.#ended.signal);
    if (this.#ended.signal.aborted) return;
    queues.byName.delete(queue);
    strategies.delete(queue);
    pauses.delete(queue);
    listener?.restartListening();
    const registrar = this.#addedRegistrars.get(queue);
    this.#addedRegistrars.delete(queue);
    await registrar?.stop();
    // The queues in the worker table only inform people, so a failure is ignored.
    await this.parts.stores.workers.setQueues(this.id, queues.names).catch(() => undefined);
  }

  /** Resolves when no job runs here and a new poll finds none to run. */
  async idle(): Promise<void> {
    const { pauses, poller, queues } = this.components;
    await this.#untilIdle();
    for (let claimedCount = -1, hasFound = true; !pauses.isQuiet && (hasFound || claimedCount < queues.claimedCount);) {
      ({ claimedCount } = queues);
      hasFound = await poller.pollNow();
      await this.#untilIdle();
    }
  }

  /** First phase of stopping: stops claiming, and releases prefetched jobs. */
  quiet(): void {
    const { pauses, poller, pruner, listener } = this.components;
    if (pauses.isQuiet) return;
    pauses.quiet();
    this.#loopsStopped = Promise.all([poller.stop(), pruner.stop(), listener?.stop()]);
  }

  /**
   * Second phase of stopping: waits up to `timeoutMs` for running jobs, then aborts them, then releases them, and
   * deregisters the worker. Ends at most 4.5 s after `timeoutMs`, even if the database does not answer.
   */
  async drain(timeoutMs: number): Promise<void> {
    this.quiet();
    const { clock } = this.parts;
    const { completer, queues } = this.components;
    const endsAt = clock.monotonic() + timeoutMs + SHUTDOWN_OVERTIME_MS;
    const remainingMs = () => endsAt - clock.monotonic();
    if (!(await withTimeout(clock, timeoutMs, this.#untilIdle()))) await this.#abortRunning(timeoutMs);
    if (!(await withTimeout(clock, remainingMs() - DEREGISTER_RESERVE_MS, this.#untilIdle()))) {
      completer.stopRetrying();
      // The completer tries deferred outcomes once more.
      await withTimeout(clock, remainingMs(), completer.idle());
    }
    await withTimeout(clock, Math.min(remainingMs(), DEREGISTER_TIMEOUT_MS), this.#deregister());
    this.#ended.abort();
    queues.notifyIdle();
  }

  async #deregister(): Promise<void> {
    const deregistering = Promise.all([
      this.#loopsStopped,
      this.components.leases.stop(),
      this.components.cancelRequestReader.stop(),
      this.components.releaseLock(),
      this.#registrar.stop(),
      ...[...this.#addedRegistrars.values()].map((registrar) => registrar.stop()),
      this.parts.stores.workers.deregister(this.id),
    ]);
    // A worker that stays registered is harmless: the pruner deletes it after a day.
    await deregistering.catch(() => undefined);
    await this.parts.events.idle();
  }

  async #abortRunning(timeoutMs: number): Promise<void> {
    const { queues } = this.components;
    const { running } = queues;
    if (running === 0) return;
    this.parts.logger.warn(`${running} job(s) still running after ${timeoutMs} ms: aborting and releasing them.`, {
      workerId: this.id,
    });
    queues.abortAll(new ShutdownError());
    if (!(await withTimeout(this.parts.clock, ABORT_GRACE_MS, this.#untilIdle()))) queues.releaseAll();
  }

  /** Declares the limits of the queues, and reads which ones are paused, because a queue that opens claims at once. */
  async #readStates(names: readonly string[]): Promise<void> {
    const { queues, pauses, settings } = this.components;
    const readAt = this.parts.clock.monotonic();
    const summary = await this.parts.stores.jobs.summarizeWork(names);
    if (summary.atMs !== null) this.parts.databaseClock.learn(summary.atMs, readAt);
    const limits = new Map<string, Limits>();
    for (const queue of names) {
      const state = summary.queues.get(queue);
      const { paused = false, isLimited = false, hasGroups = false } = state ?? {};
      const isEnabled = settings.apply(queue, state ?? { concurrency: null, isEnabled: true });
      const own = this.parts.optionsFor(queue).limits;
      const hasOwn = own.maxRunning !== null || own.rate !== null;
      if (isLimited || hasOwn) limits.set(queue, own);
      if (hasGroups) queues.of(queue)?.gate.discoverGroups();
      if (paused || !isEnabled) pauses.setPausedEverywhere(queue, true);
      queues.of(queue)?.setLimited(isLimited || hasOwn, Infinity);
    }
    for (const queue of await this.parts.stores.limits.declareLimits(limits))
      this.parts.logger.log(
        `Another process had declared other limits for queue "${queue}". Now those of this one hold.`,
        { queue, workerId: this.id },
      );
  }

  async #untilIdle(): Promise<void> {
    await this.components.queues.untilIdle();
    await this.components.completer.idle();
  }
}
