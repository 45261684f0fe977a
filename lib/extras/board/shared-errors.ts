import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { QueueError } from '../../admin/list-errors.js';
import type { Clock } from '../../common/clock.js';
import { shownError } from '../dashboard/shown-error.js';
import type { Redactor } from '../dashboard/redactor.js';
import { SharedRead } from './shared-read.js';

const MAX_AGE_MS = 15_000;
const DAYS_30_MS = 30 * 86_400_000;
const MAX_MESSAGE_BYTES = 300;
const MAX_KEPT = 12;

/** The failed attempts with one error, without secrets in their message. */
export type ShownErrors = Omit<QueueError, 'message'> & {
  /** Empty: the newest job is gone. */
  readonly message: string;
};

/** The counted errors, read for all viewers of this process together. */
export class SharedErrors {
  readonly #lastHour: SharedRead<ShownErrors[]>;
  readonly #ofQueues = new Map<string, SharedRead<ShownErrors[]>>();

  constructor(
    private readonly admin: Pick<QueueAdmin, 'errors'>,
    private readonly redactor: Redactor,
    private readonly clock: Pick<Clock, 'monotonic' | 'now'>,
  ) {
    this.#lastHour = new SharedRead(() => this.#load(), MAX_AGE_MS, clock);
  }

  /** Those of the last hour, of all queues that the viewer may read. */
  async lastHour(mayRead: (queue: string) => Promise<boolean>): Promise<ShownErrors[]> {
    const all = await this.#lastHour.read();
    const isReadable = await Promise.all(all.map(({ queue }) => mayRead(queue)));
    return all.filter((_, index) => isReadable[index]);
  }

  /** Those of a queue within 30 days. */
  ofQueue(queue: string): Promise<ShownErrors[]> {
    const read = this.#ofQueues.get(queue) ?? new SharedRead(() => this.#load(queue), MAX_AGE_MS, this.clock);
    // The most recently used ones stay.
    this.#ofQueues.delete(queue);
    this.#ofQueues.set(queue, read);
    if (this.#ofQueues.size > MAX_KEPT) this.#ofQueues.delete(this.#ofQueues.keys().next().value!);
    return read.read();
  }

  async #load(queue?: string): Promise<ShownErrors[]> {
    const days = queue !== undefined && { from: new Date(this.clock.now().getTime() - DAYS_30_MS) };
    const errors = await this.admin.errors({ queue, ...days });
    return errors.map((one) => ({ ...one, message: this.#messageOf(one) }));
  }

  #messageOf({ queue, error, jobName, message }: QueueError): string {
    if (message === null || error === null) return '';
    // The rule of an application may look at the name or at the code.
    const stored = { name: error, code: error, message };
    return shownError(stored, { queue, name: jobName ?? '' }, this.redactor, MAX_MESSAGE_BYTES).message;
  }
}
