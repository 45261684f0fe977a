import { InvalidOptionsError } from '../../job/errors.js';
import { expected, isOptions } from '../../job/expectation.js';
import { nameProblem } from '../../job/job-names.js';
import { processorOptionProblems } from '../../job/processor-options.js';
import type { AsDeclared, PayloadOf, QueueName, ResultOf } from '../../job/queue-jobs.js';
import type { JobContext } from './job-context.js';

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
