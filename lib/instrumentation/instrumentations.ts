import type { ContextPropagation } from '../job/context-propagation.js';
import type { DatabaseClock } from '../common/clock.js';
import type { JobLogger } from '../common/logger.js';
import { isPromiseLike } from '../common/maybe-promise.js';
import type {
  AttemptOfJob,
  DatabaseCall,
  EndedAttempt,
  EndedRun,
  HandlerRun,
  QueueInstrumentation,
  Sending,
  SentJobResult,
} from '../job/instrumentation.js';
import type { ClaimedJob, NewJob } from '../job/job.js';
import { OUTCOME_OF, type Outcome } from '../job/outcome.js';
import { storedError } from '../job/stored-error.js';
import { callInContext, withCapturedHeaders } from './carried-context.js';
import { SentJobView } from './sent-job.js';
import { startWithin } from './start-within.js';

type EndedJob = Pick<ClaimedJob, 'id' | 'queue' | 'name' | 'attempt'> &
  Partial<Pick<ClaimedJob, 'createdAtMs' | 'dueAtMs'>>;

type Method = keyof QueueInstrumentation;

/** An instrumentation that has the method. */
type With<Name extends Method> = QueueInstrumentation & Required<Pick<QueueInstrumentation, Name>>;

/** Calls all instrumentations of this process. */
export class Instrumentations {
  readonly #failed = new Set<QueueInstrumentation>();
  readonly #all: QueueInstrumentation[];

  constructor(
    all: readonly QueueInstrumentation[],
    private readonly databaseClock: DatabaseClock,
    private readonly logger: JobLogger,
    private readonly context?: ContextPropagation,
  ) {
    this.#all = [...all];
  }

  add(instrumentation: QueueInstrumentation): void {
    this.#all.push(instrumentation);
  }

  /** Undefined if no instrumentation surrounds calls of producers, so that they pay nothing for it. */
  get ofProducers(): Pick<Instrumentations, 'enqueue'> | undefined {
    return this.context || this.#with('enqueue').length > 0 ? this : undefined;
  }

  /** Undefined if no instrumentation surrounds handlers, so that runs pay nothing for it. */
  get ofRuns(): Pick<Instrumentations, 'run'> | undefined {
    return this.context || this.#with('run').length > 0 ? this : undefined;
  }

  /** Undefined if no instrumentation observes the calls of the database. */
  get ofDatabase(): ((call: DatabaseCall) => void) | undefined {
    return this.#with('databaseCalled').length > 0 ? (call) => this.#notify('databaseCalled', call) : undefined;
  }

  /** @param store stores the jobs, which may have further headers now */
  enqueue<T>(
    method: Sending['method'],
    jobs: readonly NewJob[],
    store: (jobs: readonly NewJob[]) => Promise<T>,
    resultsOf: (stored: T) => readonly SentJobResult[],
  ): Promise<T> {
    const all = this.#with('enqueue');
    const carrying = this.context ? withCapturedHeaders(jobs, this.context) : jobs;
    const views = carrying.map((job) => new SentJobView(job));
    const { queue } = jobs[0]!;
    const sent: Sending = { method, queue: jobs.every((job) => job.queue === queue) ? queue : null, jobs: views };
    let stored!: Promise<T>;
    startWithin(
      all.map((each) => (next: () => Promise<readonly SentJobResult[]>) => each.enqueue(sent, next)),
      () => {
        stored = store(views.map((view) => view.toNewJob()));
        const results = stored.then(resultsOf);
        // The caller gets the rejection of `stored`. An instrumentation need not handle that of `results`.
        results.catch(() => undefined);
        return results;
      },
      (index, error) => this.#onError(all[index]!, 'enqueue', error),
    );
    return stored;
  }

  /**
   * Calls the handler and returns its promise.
   *
   * @param ended returns the ends of the jobs; called after the handler
   */
  run(run: HandlerRun, handle: () => unknown, ended: () => Promise<readonly EndedRun[]>): Promise<unknown> {
    const all = this.#with('run');
    const { context } = this;
    let handled!: Promise<unknown>;
    startWithin(
      all.map((each) => (next: () => Promise<readonly EndedRun[]>) => each.run(run, next)),
      () => {
        handled = (async () => (context ? callInContext(context, run.jobs, handle) : handle()))();
        return ended();
      },
      (index, error) => this.#onError(all[index]!, 'run', error),
    );
    return handled;
  }

  /**
   * @param ranMs null if the attempt did not start in this process
   * @param startedAtMs the monotonic time at which the handler was called; null: it was not
   */
  ended(job: EndedJob, outcome: Outcome, ranMs: number | null, startedAtMs: number | null): void {
    this.#notify('ended', this.#endedAttempt(job, outcome, ranMs, startedAtMs));
  }

  leaseLost(job: EndedJob): void {
    this.#notify('leaseLost', attemptOf(job));
  }

  rescued(job: EndedJob, outcome: Outcome): void {
    const attempt = this.#endedAttempt(job, outcome, null, null);
    this.#notify('ended', attempt);
    this.#notify('rescued', attempt);
  }

  databaseRetried(code: string): void {
    this.#notify('databaseRetried', code);
  }

  #endedAttempt(job: EndedJob, outcome: Outcome, ranMs: number | null, startedAtMs: number | null): EndedAttempt {
    const { queue, name, id: jobId, attempt } = job;
    const error = 'error' in outcome ? outcome.error : undefined;
    const waitMs = startedAtMs === null ? null : this.#waitMs(job, startedAtMs);
    return { queue, name, jobId, attempt, outcome: OUTCOME_OF[outcome.kind], waitMs, ranMs, error };
  }

  #notify<Name extends 'ended' | 'leaseLost' | 'rescued' | 'databaseRetried' | 'databaseCalled'>(
    method: Name,
    value: Parameters<NonNullable<QueueInstrumentation[Name]>>[0],
  ): void {
    for (const instrumentation of this.#all) {
      try {
        const returned = (instrumentation[method] as ((value: unknown) => unknown) | undefined)?.call(
          instrumentation,
          value,
        );
        // Most return nothing. A method may be asynchronous although it should not be: its rejection would end the process.
        if (returned !== undefined && isPromiseLike(returned))
          Promise.resolve(returned).catch((error: unknown) => this.#onError(instrumentation, method, error));
      } catch (error) {
        this.#onError(instrumentation, method, error);
      }
    }
  }

  #with<Name extends Method>(method: Name): With<Name>[] {
    return this.#all.filter((each): each is With<Name> => typeof each[method] === 'function');
  }

  #waitMs({ dueAtMs, createdAtMs }: EndedJob, startedAtMs: number): number | null {
    const startedAt = this.databaseClock.at(startedAtMs);
    const dueAt = dueAtMs ?? createdAtMs;
    return startedAt === undefined || dueAt === undefined ? null : Math.max(0, startedAt - dueAt);
  }

  /** Logs the first error of each instrumentation: it may fail for every job. */
  #onError(instrumentation: QueueInstrumentation, method: Method, thrown: unknown): void {
    if (this.#failed.has(instrumentation)) return;
    this.#failed.add(instrumentation);
    const { name, message, stack } = storedError(thrown);
    this.logger.error(
      `An instrumentation failed in ${method}(): ${name}: ${message}. Its later errors are not logged.`,
      stack,
    );
  }
}

function attemptOf({ queue, name, id: jobId, attempt }: EndedJob): AttemptOfJob {
  return { queue, name, jobId, attempt };
}
