import type { EntityManager } from 'typeorm';
import { DuplicateStepError, InvalidOptionsError, LeaseLostError, StepNotAllowedError } from '../../job/errors.js';
import { expected, isOptions } from '../../job/expectation.js';
import type { ClaimedJob } from '../../job/job.js';
import { nameProblem } from '../../job/identifiers.js';
import { encodeResult, type ContentOptions, decodeWith } from '../../job/job-content.js';
import { toDelay, type SnoozeUntil, type Delay } from '../../job/snooze.js';
import type { JobCalls } from './job-calls.js';
import type {
  Signal,
  SignalWait,
  StepOwner,
  StepStore,
  StoredStep,
  StoredSteps,
} from '../../store/features/steps/step-store.js';

export type StepArguments<T> =
  [work: () => T | Promise<T>] | [options: { transaction: true }, work: (manager: EntityManager) => Promise<T>];

export function stepProblems(args: Readonly<StepArguments<unknown>>): string[] {
  const [options, work] = args.length === 1 ? [{ transaction: true }, args[0]] : args;
  const isTransaction = isOptions(options) && JSON.stringify(options) === '{"transaction":true}';
  return [
    expected(typeof work === 'function', 'the work of a step to be a function', work),
    expected(isTransaction, 'the options of a step to be { transaction: true }', options),
  ].filter((line) => line !== undefined);
}

export function stepKeyOf({ queue, id, overrides }: ClaimedJob, name: string): string {
  const { restart } = overrides ?? {};
  return `${queue}:${id}${restart === undefined ? '' : `.${restart}`}:${name}`;
}

/** The steps of one run: those of earlier runs are remembered, new ones are stored. */
export class JobSteps {
  readonly #owner: StepOwner & { readonly queue: string };
  readonly #usedNames = new Set<string>();
  #stored: Promise<StoredSteps> | undefined;
  #running: string | undefined;

  constructor(
    job: ClaimedJob,
    claimId: number,
    private readonly store: StepStore,
    private readonly options: ContentOptions,
    private readonly signal: AbortSignal,
    private readonly calls: Pick<JobCalls, 'requireOpen'>,
  ) {
    this.#owner = { jobId: job.id, claimId, queue: job.queue };
  }

  run<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    return this.#act(name, async (remembered) => {
      if (remembered) return this.#decode<T>(remembered.result);
      const result = await this.#encode(await work());
      this.#requireOpen(name);
      this.#requireOwned(await this.store.writeStep(this.#owner, name, result));
      return this.#decode<T>(result);
    });
  }

  runInTransaction<T>(name: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.#act(name, async (remembered) => {
      if (remembered) return this.#decode<T>(remembered.result);
      return this.store.transactStep(this.#owner, name, async (manager) => {
        const result = await this.#encode(await work(manager));
        this.#requireOpen(name);
        return { value: await this.#decode<T>(result), result };
      });
    });
  }

  /** Returns the rest of the sleep; undefined if it is over. */
  sleep(name: string, until: SnoozeUntil): Promise<Delay | undefined> {
    return this.#act(name, async (remembered, nowMs) => {
      const wait = remembered
        ? { untilMs: remembered.untilMs ?? 0, nowMs }
        : this.#requireOwned(await this.store.startSleep(this.#owner, name, toDelay(until, 0)));
      const delayMs = wait.untilMs - wait.nowMs;
      return delayMs > 0 ? { delayMs, untilMs: wait.untilMs } : undefined;
    });
  }

  waitForSignal(name: string, signal: Pick<Signal, 'key' | 'hash'>, timeoutMs: number): Promise<SignalWait> {
    return this.#act(name, async (remembered) => {
      if (remembered?.state !== 'done')
        return this.#decodeSignal(
          this.#requireOwned(await this.store.waitForSignal(this.#owner, name, signal, timeoutMs)),
        );
      if (remembered.result === null) return { state: 'timed-out' };
      // The store keeps the data of a signal in a list, so that a signal without data differs from none.
      return this.#decodeSignal({ state: 'signalled', data: remembered.result.slice(1, -1) || null });
    });
  }

  /** @param store stores the step with the children; undefined: the claim has lost the job */
  fanOut<Children>(
    name: string,
    prepare: () => Promise<Children>,
    store: (children: Children) => Promise<true | undefined>,
  ): Promise<void> {
    return this.#act(name, async (remembered) => {
      if (remembered) return;
      const children = await prepare();
      this.#requireOpen(name);
      this.#requireOwned(await store(children));
    });
  }

  async #act<T>(name: string, act: (remembered: StoredStep | undefined, nowMs: number) => Promise<T>): Promise<T> {
    InvalidOptionsError.throwIfAny('Invalid step', [nameProblem('step name', name)]);
    const { jobId, queue } = this.#owner;
    if (this.#running !== undefined) throw new StepNotAllowedError(jobId, queue, name, { running: this.#running });
    if (this.#usedNames.has(name)) throw new DuplicateStepError(jobId, queue, name);
    this.signal.throwIfAborted();
    this.#usedNames.add(name);
    this.#running = name;
    try {
      const { byName, nowMs } = await (this.#stored ??= this.store.readSteps(jobId));
      this.#requireOpen(name);
      return await act(byName.get(name), nowMs);
    } finally {
      this.#running = undefined;
    }
  }

  #requireOwned<T>(answer: T | undefined): T {
    if (answer === undefined) throw new LeaseLostError(this.#owner.jobId, this.#owner.queue);
    return answer;
  }

  async #encode(result: unknown): Promise<string | null> {
    return encodeResult(this.#owner.queue, result, this.options, 'step');
  }

  /** The first run gets the same value as all others: that which JSON has kept. */
  async #decode<T>(result: string | null): Promise<T> {
    if (result === null) return undefined as T;
    return JSON.parse(await decodeWith(this.options.codec, result, { what: 'step', queue: this.#owner.queue })) as T;
  }

  async #decodeSignal(wait: SignalWait): Promise<SignalWait> {
    if (wait.state !== 'signalled' || wait.data === null) return wait;
    const { codec } = this.options;
    return { ...wait, data: await decodeWith(codec, wait.data, { what: 'signal', queue: this.#owner.queue }) };
  }

  /** A step that ends after the run is not stored. */
  #requireOpen(name: string): void {
    this.calls.requireOpen(`step "${name}"`);
  }
}
