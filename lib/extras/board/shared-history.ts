import type { MetricsPoint, MetricsStep } from '../../admin/read-history.js';
import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import { SharedRead } from './shared-read.js';

const MAX_AGE_MS = 30_000;
const MAX_QUEUES = 200;
const MAX_KEPT = 12;

/** The attempts of many queues together, for viewers with equal rights. */
export class SharedHistory {
  readonly #reads = new Map<string, SharedRead<MetricsPoint[]>>();

  constructor(
    private readonly admin: Pick<QueueAdmin, 'history'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  /** At most the first 200 queues. */
  read(queues: readonly string[], step: MetricsStep = 'minute'): Promise<MetricsPoint[]> {
    const some = queues.slice(0, MAX_QUEUES);
    const key = JSON.stringify([step, some]);
    const read =
      this.#reads.get(key) ?? new SharedRead(() => this.admin.history(some, { step }), MAX_AGE_MS, this.clock);
    // The most recently used ones stay.
    this.#reads.delete(key);
    this.#reads.set(key, read);
    if (this.#reads.size > MAX_KEPT) this.#reads.delete(this.#reads.keys().next().value!);
    return read.read();
  }
}
