import type { JobContext } from './job-context.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected, isOptions } from '../../job/expectation.js';
import { nameProblem } from '../../job/identifiers.js';
import { processorOptionProblems } from '../../job/processor-options.js';
import type { AsDeclared, PayloadOf, QueueName, ResultOf } from '../../job/queue-jobs.js';

/** Handles one job. The value that it returns is the result of the job. If it throws, the attempt has failed. */
// oxlint-disable-next-line typescript/no-explicit-any -- each handler has its own payload
export type Handler = (job: JobContext<any>) => unknown;

/** Handles several jobs of one name. `ProcessorOptions.batch` describes the outcome of each job. */
// oxlint-disable-next-line typescript/no-explicit-any
export type BatchHandler = (jobs: JobContext<any>[]) => unknown;

export type HandlerEntry =
  | { readonly handle: Handler; readonly batch?: undefined }
  | { readonly handle: BatchHandler; /** The largest number of jobs in one call. */ readonly batch: number };

/** The handlers of one queue: one per job name, and at most one for all other names. */
export interface QueueHandlers {
  readonly named: ReadonlyMap<string, HandlerEntry>;
  readonly fallback?: HandlerEntry;
}

const NONE: QueueHandlers = { named: new Map() };

/** The handlers of this process. */
export class HandlerTable {
  readonly #queues = new Map<string, { fallback?: HandlerEntry; named: Map<string, HandlerEntry> }>();

  get queues(): string[] {
    return [...this.#queues.keys()];
  }

  /** @param name the job name; undefined: the handler is for all names without a handler of their own */
  add(queue: string, name: string | undefined, entry: HandlerEntry): void {
    const handlers = this.#queues.get(queue) ?? { named: new Map<string, HandlerEntry>() };
    if (name === undefined) handlers.fallback = entry;
    else handlers.named.set(name, entry);
    this.#queues.set(queue, handlers);
  }

  remove(queue: string): void {
    this.#queues.delete(queue);
  }

  of(queue: string): QueueHandlers {
    return this.#queues.get(queue) ?? NONE;
  }

  find(queue: string, name: string): HandlerEntry | undefined {
    const { named, fallback } = this.of(queue);
    return named.get(name) ?? fallback;
  }

  maxBatchSize(queue: string): number {
    const { named, fallback } = this.of(queue);
    return Math.max(1, fallback?.batch ?? 1, ...[...named.values()].map(({ batch = 1 }) => batch));
  }
}

type JobOf<Name extends QueueName> = JobContext<AsDeclared<PayloadOf<Name>>, AsDeclared<ResultOf<Name>>>;

/** A handler that is added at run time. It receives one job, or several with the option `batch`. */
export type RuntimeHandler<Name extends QueueName, Batch> = Batch extends number
  ? (jobs: JobOf<Name>[]) => unknown
  : (job: JobOf<Name>) => unknown;

/** Removes a handler. Resolves when its jobs in this process have ended or were released. May be called twice. */
export type UnregisterHandler = () => Promise<void>;

/** Throws InvalidOptionsError with all problems that the decorator would report. */
export function checkHandler(queue: unknown, options: unknown, handler: unknown, handled: readonly string[]): void {
  const isHandled = handled.includes(queue as string);
  InvalidOptionsError.throwIfAny('Cannot handle queue', [
    nameProblem('queue name', queue),
    ...processorOptionProblems(isOptions(options) ? options : undefined, queue as string),
    expected(typeof handler === 'function', 'the handler to be a function', handler),
    expected(!isHandled, 'a queue without a handler in this process (remove that handler first, or extend it)', queue),
  ]);
}
