import { workerName, type Doorbell } from '../store/doorbell.js';
import type { Clock } from '../time/clock.js';
import { DueNotices } from './due-notices.js';
import type { Worker } from './worker.js';

/**
 * Notifies the worker of this process, and workers of other processes, of work that is new. Every notification is a hint: a
 * worker that misses one finds the work with its next poll.
 */
export class WorkNotifier {
  #worker: Worker | undefined;
  readonly #dueNotices: DueNotices | undefined;

  /** @param doorbell undefined if this process does not notify others */
  constructor(
    private readonly doorbell: Doorbell | undefined,
    private readonly clock: Clock,
  ) {
    this.#dueNotices = doorbell && new DueNotices(doorbell, clock);
  }

  /** From now on this is the worker of this process; undefined: it has none. */
  setWorker(worker: Worker | undefined): void {
    this.#worker = worker;
  }

  /** Jobs of the queue are about to be committed. */
  foresee(queue: string): void {
    if (!this.#worker?.works(queue)) this.doorbell?.foresee();
  }

  /** That many jobs of the queue may be waiting. Other processes are notified of those that this one has no room for. */
  wake(queue: string, jobs = 1): void {
    if (!this.#worker?.wake(queue, jobs)) this.doorbell?.ring(queue, jobs);
  }

  /** A job of the queue will be due in that many milliseconds. If no worker runs here, one elsewhere is notified. */
  expectDue(queue: string, ms: number): void {
    if (this.#worker) this.#worker.expectDue(ms);
    else this.#dueNotices?.expect(queue, ms);
  }

  /** Like `expectDue`, for a time of day. The database judges it, so a worker of this process asks how far it is. */
  expectAt(queue: string, time: number): void {
    if (this.#worker) this.#worker.expectDue(0);
    else this.#dueNotices?.expect(queue, time - this.clock.now().getTime());
  }

  /** Something has changed that every worker should see with a poll. */
  look(): void {
    this.#worker?.look();
    this.doorbell?.ringAll();
  }

  /** The cancellation of a job was requested that this worker has: the one of this process, or another. */
  cancel(jobId: number, workerId: string): void {
    this.#worker?.cancel(jobId);
    if (workerId !== this.#worker?.id) this.doorbell?.ring(workerName(workerId), 1);
  }
}
