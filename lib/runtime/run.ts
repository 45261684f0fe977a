import type { Outcome } from '../job/outcome.js';
import { storedError } from '../job/stored-error.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { MaybeLater } from '../job/user-rule.js';
import type { Clock } from '../time/clock.js';
import type { Attempt } from './attempt.js';
import type { AttemptEnd } from './attempt-end.js';
import type { JobContext } from './job-context.js';

/** Handles one job. What it returns is the job's result; what it throws fails the attempt. */
// oxlint-disable-next-line typescript/no-explicit-any -- each handler has its own payload
export type Handler = (job: JobContext<any>) => unknown;

/** Handles several jobs of one name. See `ProcessorOptions.batch` for what becomes of each. */
// oxlint-disable-next-line typescript/no-explicit-any
export type BatchHandler = (jobs: JobContext<any>[]) => unknown;

/** A handler as it stands in the table. */
export type HandlerEntry =
  | { readonly handle: Handler; readonly batch?: undefined }
  | { readonly handle: BatchHandler; /** The most jobs of one call. */ readonly batch: number };

/** One call of a handler: one attempt, or those of a batch. */
export class Run {
  #resolve!: (ends: readonly AttemptEnd[]) => void;
  #isOver = false;
  /** Of a run with a time limit: aborted when it is over. */
  #limit: AbortController | undefined;

  constructor(
    readonly attempts: readonly Attempt[],
    private readonly options: ResolvedQueueOptions,
    private readonly clock: Clock,
  ) {}

  abort(reason: Error): void {
    for (const attempt of this.attempts) attempt.abort(reason);
  }

  /** Ends the run without its handler, which may go on in vain: the fence keeps it from doing harm. */
  end(outcome: Outcome): void {
    this.#finish();
    this.#resolve(this.attempts.map((attempt) => attempt.abandoned(outcome)));
  }

  /** How each attempt ended. Never rejects. */
  outcomes(entry: HandlerEntry): Promise<readonly AttemptEnd[]> {
    const limitMs = this.#limitMs();
    if (limitMs !== false) void this.#expireAfter(limitMs);
    return new Promise<readonly AttemptEnd[]>((resolve) => {
      this.#resolve = resolve;
      // An outcome that cannot be decided is an error of the job, and no reason to end the process.
      const failed = (error: unknown) => this.end({ kind: 'dead', error: storedError(error) });
      void this.#handle(entry)
        .then((ends) => this.#decide(ends))
        .catch(failed);
    });
  }

  /** What comes first decides: the handler or the time limit. Rules of the user's may take their time for that. */
  async #decide(ends: readonly MaybeLater<AttemptEnd>[]): Promise<void> {
    if (this.#isOver) return;
    this.#finish();
    this.#resolve(await Promise.all(ends.map((end) => Promise.resolve(end))));
  }

  #finish(): void {
    this.#isOver = true;
    this.#limit?.abort();
  }

  #handle(entry: HandlerEntry): Promise<readonly MaybeLater<AttemptEnd>[]> {
    return entry.batch === undefined ? this.#handleOne(entry.handle) : this.#handleAll(entry.handle);
  }

  async #handleOne(handle: Handler): Promise<readonly MaybeLater<AttemptEnd>[]> {
    const [attempt] = this.attempts as [Attempt];
    try {
      return [attempt.returned(await handle(await attempt.context(this.clock.now())))];
    } catch (error) {
      return [attempt.threw(error)];
    }
  }

  async #handleAll(handle: BatchHandler): Promise<readonly MaybeLater<AttemptEnd>[]> {
    const ends = new Map<Attempt, MaybeLater<AttemptEnd>>();
    const contexts = new Map<Attempt, JobContext>();
    const startedAt = this.clock.now();
    for (const attempt of this.attempts) {
      try {
        const context = attempt.context(startedAt);
        contexts.set(attempt, context instanceof Promise ? await context : context);
      } catch (error) {
        ends.set(attempt, attempt.threw(error));
      }
    }
    if (contexts.size > 0) {
      const told = [...contexts.keys()];
      const endOf = await this.#tell(handle, [...contexts.values()]);
      told.forEach((attempt, index) => ends.set(attempt, endOf(attempt, index)));
    }
    return this.attempts.map((attempt) => ends.get(attempt)!);
  }

  async #tell(
    handle: BatchHandler,
    contexts: JobContext[],
  ): Promise<(attempt: Attempt, index: number) => MaybeLater<AttemptEnd>> {
    try {
      const jobs = contexts.length;
      const results = settledResults(await handle(contexts), jobs);
      return (attempt, index) => {
        const result = results?.[index];
        if (result?.status === 'rejected') return attempt.threw(result.reason);
        return attempt.returned(result?.value);
      };
    } catch (error) {
      return (attempt) => attempt.threw(error);
    }
  }

  /** The shortest that a job of the run allows. */
  #limitMs(): number | false {
    let limitMs: number | false = false;
    for (const { job } of this.attempts) {
      const own = job.overrides?.timeoutMs ?? this.options.timeoutMs;
      if (own !== false) limitMs = limitMs === false ? own : Math.min(limitMs, own);
    }
    return limitMs;
  }

  async #expireAfter(limitMs: number): Promise<void> {
    this.#limit = new AbortController();
    await this.clock.sleep(limitMs, this.#limit.signal);
    if (!this.#isOver) await this.#decide(this.attempts.map((attempt) => attempt.expired(limitMs)));
  }
}

/**
 * What `Promise.allSettled` gives, one for each job; undefined if the handler says nothing of single jobs. Of a job that is
 * missing nobody knows whether it is done, so it fails. If there are too many, nobody knows whose they are.
 */
function settledResults(answer: unknown, jobs: number): readonly PromiseSettledResult<unknown>[] | undefined {
  if (!Array.isArray(answer)) return undefined;
  const entries = Array.from<unknown>(answer);
  const isOutcome = (entry: unknown) => entry === undefined || entry === null || isSettledResult(entry);
  if (!entries.some(isSettledResult) || !entries.every(isOutcome)) return undefined;
  const given = entries.filter(isSettledResult).length;
  const said = `A batch handler answered ${given} outcomes, expected one for each of its ${jobs} jobs`;
  if (entries.length > jobs) throw new Error(`${said}.`);
  return Array.from({ length: jobs }, (_, index) => {
    const entry = entries[index];
    if (isSettledResult(entry)) return entry;
    const place = `${said}, in their order: there is none for job ${index + 1}.`;
    return { status: 'rejected', reason: new Error(place) };
  });
}

function isSettledResult(value: unknown): value is PromiseSettledResult<unknown> {
  const { status } = (value ?? {}) as { status?: unknown };
  return status === 'fulfilled' || status === 'rejected';
}
