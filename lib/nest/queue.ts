import type { QueueAdmin } from '../admin/queue-admin.js';
import type { EnqueueOptions } from '../job/enqueue-options.js';
import type { PayloadOf, QueueName, ResultOf } from '../job/queue-jobs.js';
import type { WaitOptions } from '../job/wait-options.js';
import type { JobCounts } from '../store/admin/admin-store.js';
import type {
  EnqueuedJob,
  EnqueueStatement,
  InTransaction,
  JobToEnqueue,
  RequestOptions,
  StatementOptions,
} from '../producer/enqueued-job.js';
import type { QueueProducer } from '../producer/queue-producer.js';

/** The producer and admin methods of one queue. `@InjectQueue('email.send') emails: Queue<'email.send'>` injects it. */
export class Queue<Name extends QueueName = QueueName> {
  /** @internal Nest injects it. */
  constructor(
    readonly name: Name,
    private readonly producer: () => QueueProducer,
    private readonly admin: () => QueueAdmin,
  ) {}

  /** See QueueProducer.enqueue. */
  enqueue(payload: PayloadOf<Name>, options?: EnqueueOptions & InTransaction): Promise<EnqueuedJob> {
    return this.producer().enqueue(this.name, payload, options);
  }

  /** See QueueProducer.enqueueMany. */
  enqueueMany(jobs: readonly JobToEnqueue<PayloadOf<Name>>[], options?: InTransaction): Promise<EnqueuedJob[]> {
    return this.producer().enqueueMany(this.name, jobs, options);
  }

  /** See QueueProducer.enqueueStatement. */
  enqueueStatement(payload: PayloadOf<Name>, options?: StatementOptions): Promise<EnqueueStatement> {
    return this.producer().enqueueStatement(this.name, payload, options);
  }

  /** See QueueProducer.request. */
  request(payload: PayloadOf<Name>, options?: RequestOptions): Promise<ResultOf<Name>> {
    return this.producer().request(this.name, payload, options);
  }

  /** Waits until a job of this queue has finished, and resolves with its result. See QueueProducer.waitFor. */
  waitFor(id: number, options?: WaitOptions): Promise<ResultOf<Name>> {
    return this.producer().waitFor<ResultOf<Name>>(id, options);
  }

  /** See QueueProducer.cancel. */
  cancel(id: number): Promise<boolean> {
    return this.producer().cancel(id);
  }

  /** Counts the jobs of this queue by state. See QueueAdmin.counts. */
  counts(): Promise<JobCounts> {
    return this.admin().counts(this.name);
  }

  /** Pauses the queue in all processes. See QueueAdmin.pause. */
  pause(): Promise<void> {
    // The application names the queue in its code, so it exists.
    return this.admin().pause(this.name, { create: true });
  }

  /** Resumes the queue in all processes. See QueueAdmin.resume. */
  resume(): Promise<void> {
    return this.admin().resume(this.name, { create: true });
  }
}
