import { StepNotAllowedError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';

/** Records whether its handler awaits it, or handles it by `then` or `catch`. */
class HandledPromise<T> extends Promise<T> {
  isHandled = false;

  // The derived promises are plain ones.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- `await` calls it, which no other way can observe
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isHandled = true;
    return super.then(onFulfilled, onRejected);
  }
}

interface Call {
  readonly name: string;
  readonly promise: HandledPromise<unknown>;
  state: 'pending' | 'fulfilled' | 'rejected';
  error?: unknown;
}

/** The asynchronous calls of one run to its job. An error of a call that the handler forgets must not end the process. */
export class JobCalls {
  readonly #calls = new Set<Call>();
  #isClosed: boolean;

  constructor(
    private readonly job: Pick<ClaimedJob, 'id' | 'queue'>,
    isClosed: boolean,
  ) {
    this.#isClosed = isClosed;
  }

  /** The run is over: refuses calls from now on. */
  close(): void {
    this.#isClosed = true;
  }

  requireOpen(name: string): void {
    if (this.#isClosed) throw new StepNotAllowedError(this.job.id, this.job.queue, name, 'after the run');
  }

  start<T>(name: string, act: () => Promise<T>): Promise<T> {
    const acting = this.#run(name, act);
    const promise = new HandledPromise<T>((resolve, reject) => void acting.then(resolve, reject));
    const call: Call = { name, promise, state: 'pending' };
    this.#calls.add(call);
    acting.then(
      () => this.#calls.delete(call),
      (error: unknown) => Object.assign(call, { state: 'rejected', error }),
    );
    // Without a listener of its own, the rejection of a forgotten call would end the process.
    void Promise.prototype.then.call(promise, undefined, () => undefined);
    return promise;
  }

  /** The error of a handler that has ended before a call, or has ignored the error of one; undefined otherwise. */
  get forgottenError(): StepNotAllowedError | undefined {
    for (const { name, promise, state, error } of this.#calls) {
      if (state === 'rejected' && promise.isHandled) continue;
      const options = error === undefined ? undefined : { cause: error };
      return new StepNotAllowedError(this.job.id, this.job.queue, name, 'not awaited', options);
    }
    return undefined;
  }

  async #run<T>(name: string, act: () => Promise<T>): Promise<T> {
    this.requireOpen(name);
    return act();
  }
}
