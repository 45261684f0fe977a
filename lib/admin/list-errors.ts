import { InvalidOptionsError } from '../job/errors.js';
import { expected, requireOptions } from '../job/expectation.js';
import { checkQueueName } from '../job/identifiers.js';
import { kind, oneOf, option, optionProblems, resolveOptions, whole, type SchemaOf } from '../job/option-schema.js';
import { OTHER_ERRORS, type MetricsStore } from '../store/features/metrics/metrics-store.js';

export interface ErrorsOptions {
  /** Default: all queues. */
  queue?: string | undefined;
  /** Default: an hour before `to`. Rows are kept for a year: see `errors`. */
  from?: Date | undefined;
  /** Default: now. */
  to?: Date | undefined;
  /** The largest number of errors, 1 to 200. Default 100. */
  limit?: number | undefined;
  /** The step of `course`. Default `'minute'`. */
  step?: 'minute' | 'hour' | 'day' | undefined;
}

/** The failed attempts of a queue with one error, in all processes. */
export interface QueueError {
  queue: string;
  /** The code of the error, or its name: the value of the filter `error`. Null: all errors beyond the first hundred. */
  error: string | null;
  /** The attempts that failed, those included after which the job was dead. */
  failed: number;
  /** The jobs that were dead after such an attempt. Some may have been retried or removed since. */
  dead: number;
  /** The first and the last such attempt within the range, by the clock of the database. */
  firstAt: Date;
  lastAt: Date;
  /** The attempts that failed in each of the last 60 minutes of the range, oldest first. */
  lastHour: number[];
  /** The attempts that failed in each of the last 60 minutes, 24 hours or 30 days of the range, by `step`, oldest first. */
  course: number[];
  /** The newest job with the error, by its id. */
  jobId: number;
  /** The name of that job; null if the job is gone. */
  jobName: string | null;
  /** The message of the error in that job; null if the job is gone, or has other errors since. */
  message: string | null;
}

const PROBLEM = 'Cannot list the errors';

const DATE = kind('a valid Date from 1970 on', (value): value is Date => value instanceof Date && value.getTime() >= 0);

const ERRORS_OPTIONS = {
  queue: option(kind('the name of a queue', (value): value is string => typeof value === 'string')),
  from: option(DATE),
  to: option(DATE),
  limit: option(whole(1, 200), 100),
  step: option(oneOf('minute', 'hour', 'day'), 'minute'),
} satisfies SchemaOf<ErrorsOptions>;

export async function listErrors(store: Pick<MetricsStore, 'readErrors'>, given: ErrorsOptions): Promise<QueueError[]> {
  const options = requireOptions(PROBLEM, given);
  InvalidOptionsError.throwIfAny(PROBLEM, optionProblems(ERRORS_OPTIONS, options));
  const { queue, from, to, limit, step } = resolveOptions(ERRORS_OPTIONS, options);
  if (queue !== undefined) checkQueueName(queue);
  if (from && to)
    InvalidOptionsError.throwIfAny(PROBLEM, [expected(to > from, `to to be after ${from.toISOString()}`, to)]);
  const errors = await store.readErrors({
    ...{ queue: queue ?? null, limit, step },
    ...{ fromMs: from?.getTime() ?? null, toMs: to?.getTime() ?? null },
  });
  return errors.map(({ error, firstAtMs, lastAtMs, lastHour, course, example, ...others }) => ({
    ...others,
    error: error === OTHER_ERRORS ? null : error,
    firstAt: new Date(firstAtMs),
    lastAt: new Date(lastAtMs),
    lastHour: [...lastHour],
    course: [...course],
    message: example?.message ?? null,
  }));
}
