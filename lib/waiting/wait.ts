import {
  hasCode,
  JobCancelledError,
  JobFailedError,
  PayloadInvalidError,
  ResultInvalidError,
  WaitTimeoutError,
} from '../job/errors.js';
import type { ResolvedWaitOptions } from '../job/wait-options.js';
import type { AwaitedJob } from '../store/wait-store.js';
import type { Clock } from '../time/clock.js';

/** One call that waits for one job. */
export class Wait {
  readonly ended: Promise<unknown>;
  readonly #over = new AbortController();
  #resolve!: (result: unknown) => void;
  #reject!: (reason: unknown) => void;
  readonly #onProgress: ResolvedWaitOptions['onProgress'];
  #told: string | undefined;

  /** Its job was put in for us alone, and nothing is to be told before that ends. */
  readonly isForEndOfRequest: boolean;

  /** @param queue of the job, once that is known to be there */
  constructor(
    readonly id: number,
    public queue: string | undefined,
    { timeoutMs, signal, onProgress }: ResolvedWaitOptions,
    clock: Clock,
  ) {
    this.isForEndOfRequest = queue !== undefined && onProgress === undefined;
    this.#onProgress = onProgress;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (timeoutMs !== undefined) void this.#expireAfter(timeoutMs, clock);
    if (signal) this.#endWith(signal);
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Called when the wait is over, however it ended. */
  onOver(act: () => void): void {
    this.#over.signal.addEventListener('abort', act, { once: true });
  }

  resolve(result: unknown): void {
    this.#over.abort();
    this.#resolve(result);
  }

  reject(reason: unknown): void {
    this.#over.abort();
    this.#reject(reason);
  }

  get wantsProgress(): boolean {
    return this.#onProgress !== undefined;
  }

  /** What the job's run has said last, if it is something else than before. A listener that throws or rejects ends the wait. */
  tell(progress: string | undefined): void {
    if (this.isOver || progress === undefined || progress === this.#told) return;
    this.#told = progress;
    try {
      const heard = this.#onProgress?.(JSON.parse(progress));
      void Promise.resolve(heard).catch((error: unknown) => this.reject(error));
    } catch (error) {
      this.reject(error);
    }
  }

  /** What follows from where the job stands; nothing while it is not finished. */
  answer({ queue, state, result, error }: AwaitedJob): void {
    this.queue = queue;
    if (state === 'completed' && hasCode(error, 'RESULT_INVALID'))
      this.reject(new ResultInvalidError(this.id, queue, error!.message));
    else if (state === 'completed') this.#resolveWith(result);
    else if (state === 'dead') this.reject(new JobFailedError(this.id, queue, error));
    else if (state === 'cancelled') this.reject(new JobCancelledError(this.id, queue));
  }

  /** What another program wrote there may be anything, and is the trouble of whoever waits for it alone. */
  #resolveWith(result: string | null): void {
    let value: unknown;
    try {
      value = result === null ? undefined : JSON.parse(result);
    } catch (error) {
      const problem = `the result of job ${this.id}: expected JSON, got ${(error as Error).message}`;
      return this.reject(new PayloadInvalidError(this.queue!, problem));
    }
    this.resolve(value);
  }

  async #expireAfter(ms: number, clock: Clock): Promise<void> {
    await clock.sleep(ms, this.#over.signal);
    if (!this.isOver) this.reject(new WaitTimeoutError(this.id, ms));
  }

  #endWith(signal: AbortSignal): void {
    const end = () => this.reject(signal.reason);
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true, signal: this.#over.signal });
  }
}
