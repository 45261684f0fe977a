import { withTimeout } from '../common/abort.js';
import { inRootContext } from '../common/async-context.js';
import { InvalidOptionsError, UnknownQueueError } from '../job/errors.js';
import { expected, unknownKeys } from '../job/expectation.js';
import { isWhole } from '../job/identifiers.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import type { QueueName } from '../job/queue-jobs.js';
import { isWorkedHere } from '../job/queue-pattern.js';
import { DURATION_EXPECTED, toMs, type Duration } from '../common/units.js';
import type { QueueOccupancy } from './queue/plan.js';
import { QueueRegistrar } from './queue-registrar.js';
import { checkHandler, type HandlerEntry, type UnregisterHandler, type RuntimeHandler } from './run/handler-table.js';
import { runnerHealth, type RunnerHealth, type RunnerState } from './runner-health.js';
import { ScheduleRunner } from './schedule-runner.js';
import {
  addQueue,
  removeQueue,
  startWorker,
  drainWorker,
  quietWorker,
  workerIdle,
  createWorker,
  SHUTDOWN_OVERTIME_MS,
  type Worker,
} from './worker.js';
import type { WorkNotifier } from './work-notifier.js';
import type { WorkerParts } from './worker-parts.js';

/**
 * Starts and stops the worker of this process. The module does so with the application, unless `worker.autoStart` is
 * false. Inject the runner to start, stop or pause the worker yourself.
 */
export class SqlQueueRunner {
  #worker: Worker | undefined;
  /** It registers itself in the database and claims no job yet. */
  #starting: Worker | undefined;
  #state: RunnerState = 'stopped';
  #lastTransition: Promise<void> = Promise.resolve();
  #lastStop: Promise<void> = Promise.resolve();
  /** Whether `start()` was called, and `stop()` was not called since. Also true while there is no queue to work. */
  #shouldRun = false;
  /** The number of calls of `quiet()` and `stop()`. */
  #stopCount = 0;
  readonly #unregistering = new Set<string>();
  readonly #concurrency = new Map<string, number>();
  /** Whether a queue was last paused or resumed in this process, also while no worker runs. */
  readonly #paused = new Map<string, boolean>();
  readonly #parts: WorkerParts;
  readonly #notifier: WorkNotifier;

  /** @internal Nest injects it. */
  constructor(parts: WorkerParts, notifier: WorkNotifier) {
    this.#parts = {
      ...parts,
      optionsFor: (queue) => {
        const options = parts.optionsFor(queue);
        const concurrency = this.#concurrency.get(queue);
        return concurrency === undefined ? options : { ...options, concurrency };
      },
    };
    this.#notifier = notifier;
  }

  get state(): RunnerState {
    return this.#state;
  }

  /** The state of the worker, for health checks. It comes from memory, so it needs no statement and cannot fail. */
  health(): RunnerHealth {
    return runnerHealth(this.#state, this.#worker, this.#parts.workerOptions);
  }

  /** The queues that this process works: those with a handler that `worker.queues` allows. */
  get queues(): string[] {
    const { handlers, workerOptions } = this.#parts;
    return handlers.queues.filter((queue) => isWorkedHere(workerOptions, queue) && !this.#unregistering.has(queue));
  }

  /** The slots of each queue of the worker at this moment, for gauges. Sends no statement. Empty while no worker runs. */
  occupancy(): QueueOccupancy[] {
    return this.#worker?.queues.occupancy ?? [];
  }

  /**
   * Starts to claim jobs. Does nothing if the worker runs already, or if this process has no handlers. A call of
   * `quiet()` or `stop()` meanwhile ends the start: the promise resolves, and no worker runs.
   */
  start(): Promise<void> {
    const stopCount = this.#stopCount;
    return this.#inTurn(async () => {
      if (this.#stopCount > stopCount) return;
      this.#shouldRun = true;
      await this.#start();
    });
  }

  /**
   * Adds a handler for a queue whose name is known at run time only. Takes the options of `@QueueProcessor`. A running
   * worker starts to work the queue, otherwise the next `start()` does. `worker.queues` also applies to such queues.
   *
   * @returns a function that removes the handler. Do not await it in a handler of that queue: it waits for running
   *   jobs.
   * @throws InvalidOptionsError if the options are invalid, or this process has a handler for the queue already.
   * @throws StoreUnavailableError if the database is unavailable. The handler is not added.
   * @example
   * ```ts
   * const remove = await runner.handle('plugin.thumbnails', { concurrency: 4 }, (job) => thumbnail(job.payload));
   * await remove();
   * ```
   */
  async handle<Name extends QueueName, const Batch extends number | undefined = undefined>(
    queue: Name,
    options: Omit<ProcessorOptions, 'batch'> & { batch?: Batch },
    handler: RuntimeHandler<Name, Batch>,
  ): Promise<UnregisterHandler> {
    const { handlers, defineQueue } = this.#parts;
    checkHandler(queue, options, handler, handlers.queues);
    defineQueue(queue, options);
    handlers.add(queue, undefined, { handle: handler, batch: options.batch } as HandlerEntry);
    try {
      await this.#inTurn(() => this.#addToWorker(queue));
    } catch (error) {
      this.#removeHandler(queue);
      throw error;
    }
    let removed: Promise<void> | undefined;
    return () => (removed ??= this.#unregisterHandler(queue));
  }

  /**
   * Sets how many calls of the queue's handlers may run at once in this process, 1 to 10,000, in place of the option
   * `concurrency`. Running calls are not affected. The value applies until the handler is removed or the process ends. A
   * `concurrency` of `QueueAdmin.configure` wins.
   *
   * @throws InvalidOptionsError if the value is out of range
   * @throws UnknownQueueError if this process does not work the queue
   */
  setConcurrency(queue: QueueName, concurrency: number): void {
    this.#queuesNamed(queue);
    InvalidOptionsError.throwIfAny('Cannot set the concurrency', [
      expected(isWhole(concurrency, 1, 10_000), 'concurrency to be a whole number from 1 to 10000', concurrency),
    ]);
    this.#concurrency.set(queue, concurrency);
    this.#worker?.settings.onOptionsChanged(queue);
  }

  async #addToWorker(queue: string): Promise<void> {
    if (!this.#shouldRun || !this.queues.includes(queue)) return;
    if (!this.#worker) return this.#start();
    if (this.#state === 'running') await addQueue(this.#worker, queue);
  }

  async #unregisterHandler(queue: string): Promise<void> {
    this.#unregistering.add(queue);
    await this.#lastTransition;
    if (this.#worker) await removeQueue(this.#worker, queue);
    this.#removeHandler(queue);
  }

  #removeHandler(queue: string): void {
    this.#parts.handlers.remove(queue);
    this.#unregistering.delete(queue);
    this.#paused.delete(queue);
    this.#concurrency.delete(queue);
  }

  async #start(): Promise<void> {
    if (this.#worker || this.queues.length === 0) return;
    const { queues } = this;
    const worker = createWorker(this.#parts, queues, (queue) => this.isPaused(queue));
    this.#state = 'starting';
    this.#starting = worker;
    try {
      await startWorker(worker, queues);
      if (worker.pauses.isQuiet) return await drainWorker(worker, 0);
      // For calls of `pause` and `resume` while the worker started.
      if (this.#paused.size > 0) worker.pauses.apply();
      this.#worker = worker;
      this.#notifier.setWorker(worker);
    } finally {
      this.#starting = undefined;
      this.#state = this.#worker ? 'running' : 'stopped';
    }
  }

  /** Declares the subscriptions and schedules of the queues of this process, as `start()` does, but claims no jobs. */
  async declare(): Promise<void> {
    const subscribing = this.queues.filter((queue) => this.#parts.subscriptions.has(queue));
    await new QueueRegistrar(this.#parts, subscribing).declare();
    await new ScheduleRunner(this.#parts, this.queues, (queue, jobs) => this.#notifier.wake(queue, jobs)).declare();
  }

  /**
   * Stops claiming from the queue, or from all queues, in this process. Prefetched jobs are released, and running jobs
   * go on.
   *
   * @throws UnknownQueueError if this process does not work the queue
   */
  pause(queue?: string): void {
    this.#setPaused(queue, true);
  }

  /**
   * Ends a pause of this process. `QueueAdmin.resume` ends a pause of all processes.
   *
   * @throws UnknownQueueError if this process does not work the queue
   */
  resume(queue?: string): void {
    this.#setPaused(queue, false);
  }

  /** Whether this process has paused the queue, by `pause` or by the option `paused`. */
  isPaused(queue: string): boolean {
    return this.#paused.get(queue) ?? this.#parts.optionsFor(queue).paused;
  }

  /** Stops claiming and releases prefetched jobs. Call `stop()` afterwards. */
  async quiet(): Promise<void> {
    this.#shouldRun = false;
    this.#stopCount++;
    const worker = this.#worker ?? this.#starting;
    if (!worker) return;
    this.#state = 'stopping';
    inRootContext(() => quietWorker(worker));
  }

  /**
   * Stops claiming and waits for running jobs. After `timeout` (default: `worker.shutdown.timeout`, 20s) it aborts and
   * releases them. Resolves when the worker has stopped. May be called twice.
   *
   * @throws InvalidOptionsError if `timeout` is no duration
   */
  stop({ timeout, ...unknown }: { timeout?: Duration } = {}): Promise<void> {
    const timeoutMs = timeout === undefined ? this.#parts.workerOptions.shutdownTimeoutMs : toMs(timeout);
    InvalidOptionsError.throwIfAny('Cannot stop', [
      ...unknownKeys(unknown, ['timeout']),
      expected(timeoutMs !== undefined, `timeout to be ${DURATION_EXPECTED}`, timeout),
    ]);
    const quieted = this.quiet();
    const previous = this.#lastTransition;
    const stopped = Promise.all([quieted, this.#lastStop]).then(() =>
      inRootContext(() => this.#stop(timeoutMs!, previous)),
    );
    this.#lastStop = stopped.catch(() => undefined);
    this.#lastTransition = Promise.all([previous, this.#lastStop]).then(() => undefined);
    return stopped;
  }

  /** Waits for a start that is under way, but for no `handle()`: a quiet worker does not work its queue. */
  async #stop(timeoutMs: number, previous: Promise<void>): Promise<void> {
    if (this.#starting) await withTimeout(this.#parts.clock, SHUTDOWN_OVERTIME_MS, previous);
    if (this.#worker) await drainWorker(this.#worker, timeoutMs);
    this.#worker = undefined;
    this.#notifier.setWorker(undefined);
    this.#state = 'stopped';
  }

  /** Resolves when no job runs here and no waiting job is left for this process. Scheduled jobs do not count. */
  async whenIdle(): Promise<void> {
    if (this.#worker) await workerIdle(this.#worker);
  }

  #setPaused(queue: string | undefined, isPaused: boolean): void {
    for (const each of this.#queuesNamed(queue)) this.#paused.set(each, isPaused);
    this.#worker?.pauses.apply();
  }

  #queuesNamed(queue: string | undefined): string[] {
    if (queue === undefined) return this.queues;
    if (!this.queues.includes(queue)) throw new UnknownQueueError(queue, this.queues);
    return [queue];
  }

  /** Runs starts, and additions of handlers, one after the other, and after the stops that were called before. */
  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#lastTransition.then(() => inRootContext(act));
    this.#lastTransition = done.catch(() => undefined);
    return done;
  }
}
