import type { QueueAdmin } from '../admin/queue-admin.js';
import type { EnqueueOptions } from '../job/enqueue-options.js';
import type { PayloadOf, QueueName, ResultOf } from '../job/queue-jobs.js';
import type { WaitOptions } from '../job/wait-options.js';
import type { JobCounts } from '../store/admin-store.js';
import type {
  EnqueuedJob,
  InTransaction,
  JobToEnqueue,
  QueueProducer,
  RequestOptions,
} from '../producer/queue-producer.js';

export type ProducesForQueue = Pick<QueueProducer, 'enqueue' | 'enqueueMany' | 'request' | 'cancel' | 'waitFor'>;
export type AdministersQueue = Pick<QueueAdmin, 'counts' | 'pause' | 'resume'>;

/** Everything that concerns one queue, as `@InjectQueue('email.send') emails: Queue<'email.send'>` gives it. */
export class Queue<Name extends QueueName = QueueName> {
  /** @internal Nest injects it. */
  constructor(
    readonly name: Name,
    private readonly producer: ProducesForQueue,
    private readonly admin: AdministersQueue,
  ) {}

  /** See QueueProducer.enqueue. */
  enqueue(payload: PayloadOf<Name>, options?: EnqueueOptions & InTransaction): Promise<EnqueuedJob> {
    return this.producer.enqueue(this.name, payload, options);
  }

  /** See QueueProducer.enqueueMany. */
  enqueueMany(jobs: readonly JobToEnqueue<PayloadOf<Name>>[], options?: InTransaction): Promise<EnqueuedJob[]> {
    return this.producer.enqueueMany(this.name, jobs, options);
  }

  /** See QueueProducer.request. */
  request(payload: PayloadOf<Name>, options?: RequestOptions): Promise<ResultOf<Name>> {
    return this.producer.request(this.name, payload, options);
  }

  /** Waits for a job of this queue to end; resolves with its result. See QueueProducer.waitFor. */
  waitFor(id: number, options?: WaitOptions): Promise<ResultOf<Name>> {
    return this.producer.waitFor<ResultOf<Name>>(id, options);
  }

  /** See QueueProducer.cancel. */
  cancel(id: number): Promise<boolean> {
    return this.producer.cancel(id);
  }

  /** How many jobs of this queue there are in each state. See QueueAdmin.counts. */
  counts(): Promise<JobCounts> {
    return this.admin.counts(this.name);
  }

  /** Pauses the queue in all processes. See QueueAdmin.pause. */
  pause(): Promise<void> {
    return this.admin.pause(this.name);
  }

  /** Resumes the queue in all processes. See QueueAdmin.resume. */
  resume(): Promise<void> {
    return this.admin.resume(this.name);
  }
}
