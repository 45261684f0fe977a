import { allowManyListeners } from '../common/abort.js';
import { inPresentContext } from '../common/async-context.js';
import {
  hasCode,
  JobCancelledError,
  JobFailedError,
  PayloadInvalidError,
  ResultInvalidError,
  WaitTimeoutError,
} from '../job/errors.js';
import type { ResolvedWaitOptions } from '../job/wait-options.js';
import type { AwaitedJob } from '../store/features/waits/wait-store.js';
import type { Clock } from '../common/clock.js';

/** One call that waits for the result of one job. */
export class ResultWait {
  readonly result: Promise<unknown>;
  readonly #over = new AbortController();
  #resolve!: (result: unknown) => void;
  #reject!: (reason: unknown) => void;
  readonly onProgress: ResolvedWaitOptions['onProgress'];
  #lastProgress: string | undefined;

  /** Only this call waits for the job, and only for its end: `request` enqueued it, without `onProgress`. */
  readonly needsReplyOnly: boolean;

  /** @param queue the queue of the job; undefined until the job was found */
  constructor(
    readonly id: number,
    public queue: string | undefined,
    { timeoutMs, signal, onProgress }: ResolvedWaitOptions,
    clock: Clock,
  ) {
    this.needsReplyOnly = queue !== undefined && onProgress === undefined;
    this.onProgress = onProgress && inPresentContext(onProgress);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (timeoutMs !== undefined) void this.#expireAfter(timeoutMs, clock);
    if (signal) this.#rejectOnAbort(signal);
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  onOver(listener: () => void): void {
    this.#over.signal.addEventListener('abort', listener, { once: true });
  }

  reject(reason: unknown): void {
    this.#over.abort();
    this.#reject(reason);
  }

  /** Calls `onProgress` if the value is new. If that throws or rejects, the wait rejects with its error. */
  reportProgress(progress: string | undefined): void {
    if (this.isOver || progress === undefined || progress === this.#lastProgress) return;
    this.#lastProgress = progress;
    try {
      const returned = this.onProgress?.(JSON.parse(progress));
      void Promise.resolve(returned).catch((error: unknown) => this.reject(error));
    } catch (error) {
      this.reject(error);
    }
  }

  /** Ends the wait if the job is finished. */
  update({ queue, state, result, error, undecodable }: AwaitedJob): void {
    this.queue = queue;
    if (state === 'completed' && hasCode(error, 'RESULT_INVALID'))
      this.reject(new ResultInvalidError(this.id, queue, error!.message));
    else if (state === 'completed' && undecodable) this.reject(undecodable);
    else if (state === 'completed') this.#resolveParsed(result);
    else if (state === 'dead') this.reject(new JobFailedError(this.id, queue, error));
    else if (state === 'cancelled') this.reject(new JobCancelledError(this.id, queue));
  }

  /** Another program may have written an invalid result. Only the calls that wait for this job must fail. */
  #resolveParsed(result: string | null): void {
    let value: unknown;
    try {
      value = result === null ? undefined : JSON.parse(result);
    } catch (error) {
      const problem = `the result of job ${this.id}: expected JSON, got ${(error as Error).message}`;
      return this.reject(new PayloadInvalidError(this.queue!, problem));
    }
    this.#over.abort();
    this.#resolve(value);
  }

  async #expireAfter(ms: number, clock: Clock): Promise<void> {
    await clock.sleep(ms, this.#over.signal);
    if (!this.isOver) this.reject(new WaitTimeoutError(this.id, ms));
  }

  #rejectOnAbort(signal: AbortSignal): void {
    const end = () => this.reject(signal.reason);
    if (signal.aborted) return end();
    // One request may wait for many jobs.
    allowManyListeners(signal);
    signal.addEventListener('abort', end, { once: true });
    // The option `signal` of addEventListener would not do: Node loses it if several waits share a signal.
    this.onOver(() => signal.removeEventListener('abort', end));
  }
}
