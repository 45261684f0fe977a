import type { EnqueueOptions } from '../job/enqueue-options.js';
import type { EnqueuedJob, InTransaction, JobToEnqueue, QueueProducer, RequestOptions } from './queue-producer.js';

/** One queue's producer, as `@InjectQueue('email.send')` gives it. */
export class Queue<Payload = unknown> {
  constructor(
    readonly name: string,
    private readonly producer: Pick<QueueProducer, 'enqueue' | 'enqueueMany' | 'request'>,
  ) {}

  /** See QueueProducer.enqueue. */
  enqueue(payload: Payload, options?: EnqueueOptions & InTransaction): Promise<EnqueuedJob> {
    return this.producer.enqueue<string>(this.name, payload, options);
  }

  /** See QueueProducer.enqueueMany. */
  enqueueMany(jobs: readonly JobToEnqueue<Payload>[], options?: InTransaction): Promise<EnqueuedJob[]> {
    return this.producer.enqueueMany<string>(this.name, jobs, options);
  }

  /** See QueueProducer.request. */
  request(payload: Payload, options?: RequestOptions): Promise<unknown> {
    return this.producer.request<string>(this.name, payload, options);
  }
}
