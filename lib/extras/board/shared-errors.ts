import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { QueueError } from '../../admin/list-errors.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import type { Clock } from '../../common/clock.js';
import { shownError } from '../dashboard/shown-error.js';
import type { Redactor } from '../dashboard/redactor.js';
import { SharedRead } from './shared-read.js';

const MAX_AGE_MS = 15_000;
const RANGES_MS = { hour: 3_600_000, day: 86_400_000, month: 30 * 86_400_000 } as const;
const MAX_MESSAGE_BYTES = 300;
const MAX_KEPT = 12;

/** The time until now in which attempts failed; a month is one of 30 days. */
export type ErrorRange = keyof typeof RANGES_MS;

/** The failed attempts with one error, without secrets in their message. */
export type ShownErrors = Omit<QueueError, 'message'> & {
  /** Empty: the newest job is gone. */
  readonly message: string;
};

/** The counted errors, read for all viewers of this process together. */
export class SharedErrors {
  readonly #reads = new Map<string, SharedRead<ShownErrors[]>>();

  constructor(
    private readonly admin: Pick<QueueAdmin, 'errors'>,
    private readonly redactor: Redactor,
    private readonly clock: Pick<Clock, 'monotonic' | 'now'>,
  ) {}

  /** Those of all queues that the viewer may read. */
  async ofAll(range: ErrorRange, mayRead: (queue: string) => Promise<boolean>): Promise<ShownErrors[]> {
    const all = await this.ofQueue(undefined, range);
    const isReadable = await Promise.all(all.map(({ queue }) => mayRead(queue)));
    return all.filter((_, index) => isReadable[index]);
  }

  /** Rejects with `InvalidOptionsError` if a caller without TypeScript gives another range. */
  async ofQueue(queue: string | undefined, range: ErrorRange): Promise<ShownErrors[]> {
    InvalidOptionsError.throwIfAny('Board request', [
      expected(Object.hasOwn(RANGES_MS, range), 'range to be hour, day or month', range),
    ]);
    const key = `${range} ${queue ?? ''}`;
    const read = this.#reads.get(key) ?? new SharedRead(() => this.#load(queue, range), MAX_AGE_MS, this.clock);
    // The most recently used ones stay.
    this.#reads.delete(key);
    this.#reads.set(key, read);
    if (this.#reads.size > MAX_KEPT) this.#reads.delete(this.#reads.keys().next().value!);
    return read.read();
  }

  async #load(queue: string | undefined, range: ErrorRange): Promise<ShownErrors[]> {
    const from = new Date(this.clock.now().getTime() - RANGES_MS[range]);
    const errors = await this.admin.errors({ queue, ...(range !== 'hour' && { from }) });
    return errors.map((one) => ({ ...one, message: this.#messageOf(one) }));
  }

  #messageOf({ queue, error, jobName, message }: QueueError): string {
    if (message === null || error === null) return '';
    // The rule of an application may look at the name or at the code.
    const stored = { name: error, code: error, message };
    return shownError(stored, { queue, name: jobName ?? '' }, this.redactor, MAX_MESSAGE_BYTES).message;
  }
}
