import { inRootContext } from '../common/async-context.js';
import type { WorkerRegistration, WorkerRegistry } from '../store/features/workers/worker-registry.js';

/** The row of this worker in the table of workers. No claim depends on it, so a failed change of it is ignored. */
export class WorkerEntry {
  #hasUnsaved = false;
  #isMissing = false;
  #saving: Promise<void> | undefined;
  #isStopped = false;

  /** @param declare stores the queues of the worker, if they are gone too */
  constructor(
    private readonly workers: WorkerRegistry,
    private readonly registration: () => WorkerRegistration,
    private readonly declare: () => Promise<void>,
  ) {}

  /** For the start of the worker. */
  register(): Promise<void> {
    return this.workers.register(this.registration());
  }

  /** Stores the queues and their slots: one statement at a time, so that the last state stays. */
  save(): Promise<void> {
    this.#hasUnsaved = true;
    // A request may change the slots, and the statement must not join its transaction.
    return (this.#saving ??= inRootContext(() => this.#save()));
  }

  /**
   * The heartbeat has found no row. Another worker deletes that of a worker which the database has not seen for a day, and a
   * restored backup may lack it.
   */
  restore(): void {
    this.#isMissing = true;
    void this.save();
  }

  /** A restore that is under way must not add the row after it is deleted. */
  async deregister(): Promise<void> {
    this.#isStopped = true;
    await this.#saving;
    await this.workers.deregister(this.registration().id);
  }

  async #save(): Promise<void> {
    while (this.#hasUnsaved && !this.#isStopped) {
      this.#hasUnsaved = false;
      await this.#write().catch(() => undefined);
    }
    this.#saving = undefined;
  }

  async #write(): Promise<void> {
    const { id, queues } = this.registration();
    if (!this.#isMissing) return this.workers.setQueues(id, queues);
    // If this fails, the next heartbeat finds no row again.
    this.#isMissing = false;
    await this.declare();
    await this.register();
  }
}
