import { StoreUnavailableError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import type { KeyedCallResult, KeyStore, KeyedJobResult } from '../store/keys/key-store.js';
import type { Clock } from '../common/clock.js';
import { isFaultOfOneCall, shiftBatch, type EnqueueCall } from './enqueue-calls.js';

interface Call extends EnqueueCall {
  /** Monotonic time of the call in milliseconds. */
  readonly calledAt: number;
  tries: number;
  readonly resolve: (results: readonly KeyedJobResult[]) => void;
}

// The lock timeout of every transaction of the library.
const LOCK_TIMEOUT_MS = 20_000;
const MAX_RETRY_DELAY_MS = 30;

/**
 * Group commit for jobs with keys. One batch is in flight at a time, because calls of this process with the same key
 * would only block each other. A call with a key that another transaction has locked is retried after a random delay of
 * up to 30 ms, and delays no other call.
 */
export class KeyedEnqueueBatcher {
  #pending: Call[] = [];
  #isFlushing = false;

  constructor(
    private readonly store: Pick<KeyStore, 'enqueueKeyed'>,
    private readonly clock: Clock,
  ) {}

  /** Rejects with StoreUnavailableError if another transaction keeps a key locked for 20 s. */
  enqueue(jobs: readonly NewJob[]): Promise<readonly KeyedJobResult[]> {
    return new Promise((resolve, reject) => {
      this.#add({ jobs, calledAt: this.clock.monotonic(), tries: 0, resolve, reject });
    });
  }

  #add(call: Call): void {
    this.#pending.push(call);
    if (!this.#isFlushing) void this.#flushAll();
  }

  /** Starts after this turn of the event loop, so that all calls of the turn share one transaction. */
  async #flushAll(): Promise<void> {
    this.#isFlushing = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.length > 0) await this.#flush(shiftBatch(this.#pending));
    this.#isFlushing = false;
  }

  async #flush(calls: readonly Call[]): Promise<void> {
    try {
      const results = await this.store.enqueueKeyed(calls.map(({ jobs }) => jobs));
      calls.forEach((call, index) => this.#resolveCall(call, results[index]!));
    } catch (error) {
      if (isFaultOfOneCall(calls, error)) for (const call of calls) await this.#flush([call]);
      else for (const { reject } of calls) reject(error);
    }
  }

  #resolveCall(call: Call, result: KeyedCallResult): void {
    if (result instanceof Error) call.reject(result);
    else if (result !== 'locked') call.resolve(result);
    else if (this.clock.monotonic() - call.calledAt >= LOCK_TIMEOUT_MS) call.reject(lockTimeoutError(call));
    else void this.#retryLater(call);
  }

  async #retryLater(call: Call): Promise<void> {
    await this.clock.sleep(Math.random() * Math.min(2 ** ++call.tries, MAX_RETRY_DELAY_MS));
    this.#add(call);
  }
}

function lockTimeoutError({ jobs }: Call): StoreUnavailableError {
  const keys = jobs.flatMap(({ key }) => (key ? JSON.stringify(key.text) : []));
  return new StoreUnavailableError(
    `Another transaction has locked the key ${keys.slice(0, 3).join(', ')}${keys.length > 3 ? ', …' : ''} for ` +
      `${LOCK_TIMEOUT_MS / 1_000} s. If your own transaction holds the lock while it waits for enqueue(), pass its ` +
      '`manager` to enqueue().',
    'not-done',
    undefined,
    true,
  );
}
