import type { EnqueueOptions } from '../job/enqueue-options.js';
import type { PayloadOf, QueueName, ResultOf } from '../job/queue-jobs.js';
import type { EnqueuedJob, InTransaction, JobToEnqueue, QueueProducer, RequestOptions } from './queue-producer.js';

/** One queue's producer, as `@InjectQueue('email.send') emails: Queue<'email.send'>` gives it. */
export class Queue<Name extends QueueName = QueueName> {
  constructor(
    readonly name: Name,
    private readonly producer: Pick<QueueProducer, 'enqueue' | 'enqueueMany' | 'request'>,
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
}
