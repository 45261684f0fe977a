import type { EnqueueOptions } from '../job/enqueue-options.js';
import type { KeyOptions } from '../job/job-key.js';
import type { WaitOptions } from '../job/wait-options.js';
import type { PayloadOf, QueueName } from '../job/queue-jobs.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import type { Duration } from '../common/units.js';

export type { EnqueuedJob } from '../job/enqueued-job.js';

export interface InTransaction {
  /**
   * The entity manager or query runner of your open transaction. The job exists only if that transaction commits.
   * Nothing is retried in it, because a deadlock rolls back your statements too. Without an open transaction the call
   * rejects with InvalidOptionsError.
   */
  manager?: CallerTransaction;
}

/** One job of `enqueueMany`. */
export interface JobToEnqueue<Payload = unknown> {
  payload: Payload;
  /** The options of `enqueue` for this job. Default: the options of its queue. */
  options?: EnqueueOptions;
}

/** One job of `enqueueMany` over several queues. */
export type JobOfQueue = { [Queue in QueueName]: JobToEnqueue<PayloadOf<Queue>> & { queue: Queue } }[QueueName];

/**
 * The options of `request`: those of `enqueue` without a key, and those of `waitFor`. `timeout` is the time to wait.
 */
export interface RequestOptions extends Omit<EnqueueOptions, 'timeout' | keyof KeyOptions>, WaitOptions {
  /**
   * If the job does not end within this time, it is cancelled, and the call rejects with WaitTimeoutError. Default 30s.
   */
  timeout?: Duration;
}

/** The options of `enqueueStatement`: those of `enqueue` without a key, a subject and a manager. */
export interface StatementOptions extends Omit<EnqueueOptions, keyof KeyOptions | 'subject'> {}

/** One INSERT that stores a job, for a transaction of any ORM. */
export interface EnqueueStatement {
  /** The statement, with one `?` for each value, and no other `?`. */
  readonly sql: string;
  /** The values in the order of the `?`. On MySQL and MariaDB, longer texts are hexadecimal digits. */
  readonly values: (string | number | null)[];
  /**
   * Wakes a worker, in this process or another. Call it after the commit; it needs no `this`, never throws and does no harm
   * after a rollback. Without the call, a worker finds the job with its next poll, within 2 s by default.
   */
  readonly notify: () => void;
}
