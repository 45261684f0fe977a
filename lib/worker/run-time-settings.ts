import { OutageLog } from '../common/logger.js';
import { askEnabled } from '../job/settings/enabled.js';
import type { QueueState } from '../store/verbs/job-store.js';
import type { QueueWorker } from './queue/queue-worker.js';
import type { QueuePauses } from './queue-pauses.js';
import type { QueueWorkers } from './queue/queue-workers.js';
import type { WorkerEntry } from './worker-entry.js';
import type { WorkerParts } from './worker-parts.js';

/** Applies the settings that an administrator has made for all processes, and asks the functions `enabled`. */
export class RunTimeSettings {
  /** The concurrency that holds instead of that of the options. */
  readonly #concurrency = new WeakMap<QueueWorker, number>();
  readonly #answers = new Map<string, boolean>();
  readonly #outages = new Map<string, OutageLog>();

  constructor(
    private readonly parts: WorkerParts,
    private readonly queues: QueueWorkers,
    private readonly pauses: QueuePauses,
    private readonly entry: Pick<WorkerEntry, 'save'>,
  ) {}

  /** Returns whether the queue was closed or opened in all processes since the last poll. */
  observe(queue: string, state: QueueState): boolean {
    const isEnabled = this.apply(queue, state);
    return this.pauses.observePausedEverywhere(queue, state.paused || !isEnabled);
  }

  /** Sets the concurrency of the queue, and returns whether the queue may claim jobs now. */
  apply(queue: string, { concurrency, isEnabled }: Pick<QueueState, 'concurrency' | 'isEnabled'>): boolean {
    const worker = this.queues.of(queue);
    if (worker && this.#concurrency.get(worker) !== (concurrency ?? undefined)) {
      if (concurrency === null) this.#concurrency.delete(worker);
      else this.#concurrency.set(worker, concurrency);
      this.#setConcurrency(worker, concurrency ?? this.parts.optionsFor(queue).concurrency);
    }
    return isEnabled && this.#isEnabledHere(queue);
  }

  /** The concurrency of the options has changed. */
  onOptionsChanged(queue: string): void {
    const worker = this.queues.of(queue);
    if (worker && !this.#concurrency.has(worker))
      this.#setConcurrency(worker, this.parts.optionsFor(queue).concurrency);
  }

  #setConcurrency(worker: QueueWorker, concurrency: number): void {
    worker.setConcurrency(concurrency);
    void this.entry.save();
  }

  /** If the function fails, its last answer holds. */
  #isEnabledHere(queue: string): boolean {
    const { enabled } = this.parts.optionsFor(queue);
    if (!enabled) return true;
    try {
      const isEnabled = askEnabled(enabled);
      this.#outages.get(queue)?.onSuccess();
      this.#answers.set(queue, isEnabled);
    } catch (error) {
      this.#outageOf(queue).onFailure(error);
    }
    return this.#answers.get(queue) ?? true;
  }

  #outageOf(queue: string): OutageLog {
    let outage = this.#outages.get(queue);
    if (!outage) {
      const problem = `The function \`enabled\` of queue "${queue}" failed, its last answer holds`;
      outage = new OutageLog(this.parts.logger, problem, `The function \`enabled\` of queue "${queue}" works again.`);
      this.#outages.set(queue, outage);
    }
    return outage;
  }
}
