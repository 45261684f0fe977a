import { InvalidOptionsError, UnknownQueueError } from '../job/errors.js';
import { expected, isWhole, unknownKeys } from '../job/expectation.js';
import type { ProcessorOptions } from '../job/processor-options.js';
import type { QueueName } from '../job/queue-jobs.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import { matchesAny } from '../job/queue-pattern.js';
import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import { QueueKeeper } from './queue-keeper.js';
import { checkHandler, handlerEntry, type EndHandler, type RuntimeHandler } from './runtime-handler.js';
import type { WorkNotifier } from './work-notifier.js';
import { Worker, type WorkerParts } from './worker.js';

export type RunnerState = 'stopped' | 'running' | 'stopping';

/**
 * Starts and stops the work of this process. Nest's lifecycle does so by itself; inject it to do so by hand.
 */
export class SqlQueueRunner {
  #worker: Worker | undefined;
  #state: RunnerState = 'stopped';
  #changing: Promise<void> = Promise.resolve();
  /** Whether `start()` was called, and `stop()` not since then; also while there is no queue to work. */
  #isWanted = false;
  /** Queues whose handlers are being ended. */
  readonly #ending = new Set<string>();
  readonly #concurrency = new Map<string, number>();
  /** Whether a queue was last paused or resumed here, also while nothing works. */
  readonly #paused = new Map<string, boolean>();
  readonly #parts: WorkerParts;
  readonly #notifier: WorkNotifier;

  /** @internal Nest injects it. */
  constructor(parts: WorkerParts, notifier: WorkNotifier) {
    this.#parts = {
      ...parts,
      optionsFor: (queue) => this.#optionsFor(parts.optionsFor(queue), queue),
    };
    this.#notifier = notifier;
  }

  /** `running`: claims jobs. `stopping`: claims no more, waits for those that run. */
  get state(): RunnerState {
    return this.#state;
  }

  /** The queues this process works: those it has handlers for, as `worker.queues` allows. */
  get queues(): string[] {
    const { include, exclude } = this.#parts.options;
    return this.#parts.handlers.queues.filter(
      (queue) =>
        (include === undefined || matchesAny(include, queue)) &&
        !matchesAny(exclude, queue) &&
        !this.#ending.has(queue),
    );
  }

  /** Begins to claim jobs. Does nothing where it has begun, or where this process has no handlers. */
  start(): Promise<void> {
    return this.#inTurn(() => {
      this.#isWanted = true;
      return this.#start();
    });
  }

  /**
   * Handles the queue from now on, with a function instead of a decorated method: for queues whose names are known at run
   * time only. Takes the options of `@QueueProcessor`. While the worker runs, it begins to work the queue; else the next
   * `start()` does. `worker.queues` holds for such queues, too.
   *
   * @returns a function that ends the handler. Do not await it in a handler of that queue, which it would wait for
   * @throws InvalidOptionsError if the options are wrong, or this process handles the queue already
   * @throws StoreUnavailableError if the database cannot be reached: then the queue is not handled
   * @example
   * ```ts
   * const end = await runner.handle('plugin.thumbnails', { concurrency: 4 }, (job) => thumbnail(job.payload));
   * await end();
   * ```
   */
  async handle<Name extends QueueName, const Batch extends number | undefined = undefined>(
    queue: Name,
    options: Omit<ProcessorOptions, 'batch'> & { batch?: Batch },
    handler: RuntimeHandler<Name, Batch>,
  ): Promise<EndHandler> {
    const { handlers, define } = this.#parts;
    checkHandler(queue, options, handler, handlers.queues);
    define(queue, options);
    handlers.add(queue, undefined, handlerEntry(options, handler));
    try {
      await this.#inTurn(() => this.#join(queue));
    } catch (error) {
      this.#forget(queue);
      throw error;
    }
    let ended: Promise<void> | undefined;
    return () => (ended ??= this.#end(queue));
  }

  /**
   * Has at most so many calls of the queue's handlers run at once in this process, 1 to 10,000, instead of the queue's option
   * `concurrency`. Calls that run already go on. Lasts until the handler ends or the process does.
   */
  setConcurrency(queue: QueueName, concurrency: number): void {
    this.#named(queue);
    InvalidOptionsError.throwIfAny('Cannot set the concurrency', [
      expected(isWhole(concurrency, 1, 10_000), 'concurrency to be a whole number from 1 to 10000', concurrency),
    ]);
    this.#concurrency.set(queue, concurrency);
    this.#worker?.setConcurrency(queue, concurrency);
  }

  async #join(queue: string): Promise<void> {
    if (!this.#isWanted || !this.queues.includes(queue)) return;
    if (!this.#worker) return this.#start();
    if (this.#state === 'running') await this.#worker.add(queue, this.#paused.get(queue));
  }

  async #end(queue: string): Promise<void> {
    this.#ending.add(queue);
    await this.#changing;
    await this.#worker?.remove(queue);
    this.#forget(queue);
  }

  #forget(queue: string): void {
    this.#parts.handlers.remove(queue);
    this.#ending.delete(queue);
    this.#paused.delete(queue);
    this.#concurrency.delete(queue);
  }

  #optionsFor(options: ResolvedQueueOptions, queue: string): ResolvedQueueOptions {
    const concurrency = this.#concurrency.get(queue);
    return concurrency === undefined ? options : { ...options, concurrency };
  }

  async #start(): Promise<void> {
    if (this.#worker || this.queues.length === 0) return;
    const worker = new Worker(this.#parts, this.queues, this.#paused);
    await worker.start();
    // Also what was said while it started.
    for (const [queue, isPaused] of this.#paused) {
      if (isPaused) worker.pause([queue]);
      else worker.resume([queue]);
    }
    this.#worker = worker;
    this.#notifier.setWorker(worker);
    this.#state = 'running';
  }

  /** Makes known what the queues of this process subscribe to, as `start()` does, without claiming a job. */
  async declare(): Promise<void> {
    const queues = this.queues.filter((queue) => this.#parts.subscriptions.has(queue));
    await new QueueKeeper(this.#parts, queues).declare();
  }

  /** Claims no more jobs of the queue, or of all, in this process; what runs goes on. */
  pause(queue?: string): void {
    const queues = this.#named(queue);
    queues.forEach((each) => this.#paused.set(each, true));
    this.#worker?.pause(queues);
  }

  resume(queue?: string): void {
    const queues = this.#named(queue);
    queues.forEach((each) => this.#paused.set(each, false));
    this.#worker?.resume(queues);
  }

  /** Claims no more and gives back what has not begun. `stop()` follows. */
  async quiet(): Promise<void> {
    await this.#inTurn(async () => {
      this.#isWanted = false;
      if (!this.#worker) return;
      this.#state = 'stopping';
      this.#worker.quiet();
    });
  }

  /**
   * Claims no more, waits for the jobs that run, and after `timeout` (default `worker.shutdown.timeout`, 20s) aborts and
   * releases them. Resolves when nothing runs any more. May be called twice.
   */
  stop({ timeout, ...unknown }: { timeout?: Duration } = {}): Promise<void> {
    const timeoutMs = timeout === undefined ? this.#parts.options.shutdownTimeoutMs : toMs(timeout);
    InvalidOptionsError.throwIfAny('Cannot stop', [
      ...unknownKeys(unknown, ['timeout']),
      expected(timeoutMs !== undefined, `timeout to be ${DURATION_EXPECTED}`, timeout),
    ]);
    return this.#inTurn(async () => {
      this.#isWanted = false;
      if (!this.#worker) return;
      this.#state = 'stopping';
      await this.#worker.drain(timeoutMs!);
      this.#worker = undefined;
      this.#notifier.setWorker(undefined);
      this.#state = 'stopped';
    });
  }

  /** Resolves when no job runs here and none is waiting for this process. Scheduled jobs do not count. */
  async whenIdle(): Promise<void> {
    await this.#worker?.idle();
  }

  #named(queue: string | undefined): string[] {
    if (queue === undefined) return this.queues;
    if (!this.queues.includes(queue)) throw new UnknownQueueError(queue, this.queues);
    return [queue];
  }

  /** Starts and stops happen one after the other, in the order they were asked for. */
  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#changing.then(act);
    this.#changing = done.catch(() => undefined);
    return done;
  }
}
