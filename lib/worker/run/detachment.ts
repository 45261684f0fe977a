import type { EntityManager } from 'typeorm';
import { hasCode, LeaseLostError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import { type Outcome, completeOutcome } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import { randomId } from '../../job/identifiers.js';
import type { Completion } from '../../store/rows/completion.js';
import type { AttemptEnd, AttemptParts } from './attempt-parts.js';
import type { HandedOffJob } from './handler-actions.js';
import type { JobCalls } from './job-calls.js';

interface RunningAttempt {
  readonly job: ClaimedJob;
  readonly claim: { readonly id: number };
  readonly timeoutMs: number | false;
  readonly calls: Pick<JobCalls, 'requireOpen'>;
  completionOf(outcome: Outcome): Completion;
}

/** Ends or hands off a job while its handler still runs, apart from the other jobs of its claim. */
export class Detachment {
  #end: AttemptEnd | undefined;
  #transactionLostError: Error | undefined;
  #ending: Promise<unknown> | undefined;
  #isCommitting = false;

  constructor(
    private readonly attempt: RunningAttempt,
    private readonly options: ResolvedQueueOptions,
    private readonly parts: Pick<AttemptParts, 'workerId' | 'stores'>,
  ) {}

  /** Undefined while the job is not detached, or if it could not be. */
  get end(): AttemptEnd | undefined {
    return this.#end;
  }

  /** The TransactionLostError of `transaction`. The attempt must fail with it, even if the handler catches it. */
  get transactionLostError(): Error | undefined {
    return this.#transactionLostError;
  }

  /** Settles when the database has decided about a completion or a hand-off that it received before the end of the run. */
  get committing(): Promise<unknown> | undefined {
    return this.#isCommitting ? this.#ending : undefined;
  }

  /** Rolls back if the run is over when the work has ended: the attempt has failed by then. */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const transaction = this.#transact(work);
    this.#ending = transaction.catch(() => undefined);
    return transaction;
  }

  /** Begins after the current turn of the event loop, so that a handler that ends without an `await` keeps its job. */
  handOff(leaseMs: number): Promise<HandedOffJob> {
    const handOff = this.#handOff(leaseMs);
    this.#ending = handOff.catch(() => undefined);
    return handOff;
  }

  async #transact<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const { attempt, options, parts } = this;
    let outcome!: Awaited<ReturnType<typeof completeOutcome>>;
    const completing = parts.stores.jobs.completeWith(async (manager) => {
      const result = await work(manager);
      const completed = completeOutcome(attempt.job.queue, result, options, attempt.timeoutMs);
      outcome = completed instanceof Promise ? await completed : completed;
      this.#startCommit('job.transaction()');
      return { value: result, completion: attempt.completionOf(outcome) };
    });
    const value = await completing.catch((error: unknown) => {
      if (hasCode(error, 'TRANSACTION_LOST')) this.#transactionLostError = error as Error;
      throw error;
    });
    const result = outcome.error ? undefined : value;
    this.#end = { outcome, result, isDetached: true, isHandedOff: false };
    return value;
  }

  async #handOff(leaseMs: number): Promise<HandedOffJob> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#startCommit('job.handOff()');
    const { job, claim } = this.attempt;
    const { workerId, stores } = this.parts;
    const { deadLetter } = this.options;
    const token = randomId();
    const isOurs = await stores.jobs.handOff({ job, workerId, from: claim.id, to: token, leaseMs, deadLetter });
    if (!isOurs) throw new LeaseLostError(job.id, job.queue);
    const outcome: Outcome = { kind: 'complete', result: null };
    this.#end = { outcome, result: undefined, isDetached: true, isHandedOff: true };
    return { id: job.id, token: String(token) };
  }

  #startCommit(call: string): void {
    this.attempt.calls.requireOpen(call);
    this.#isCommitting = true;
  }
}

export function secondCallError(method: 'transaction' | 'handOff', jobId: number): Error {
  return new Error(
    `job.${method}() ends job ${jobId} before its handler returns: expected one transaction() or handOff() per run, got a ` +
      `second call.`,
  );
}
