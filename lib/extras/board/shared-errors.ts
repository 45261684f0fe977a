import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { QueueError } from '../../admin/list-errors.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import type { Clock } from '../../common/clock.js';
import { shownError } from '../dashboard/shown-error.js';
import type { Redactor } from '../dashboard/redactor.js';
import { filterAsync } from './board-access.js';
import { SharedRead } from './shared-read.js';

const MAX_AGE_MS = 15_000;
const RANGES = {
  hour: { ms: 3_600_000, step: 'minute' },
  day: { ms: 86_400_000, step: 'hour' },
  month: { ms: 30 * 86_400_000, step: 'day' },
} as const;
const MAX_ERRORS = 100;
const MAX_MESSAGE_BYTES = 300;

/** The time until now in which attempts failed; a month is one of 30 days. */
export type ErrorRange = keyof typeof RANGES;

/** The failed attempts with one error, without secrets in their message. */
export type ShownErrors = Omit<QueueError, 'message'> & {
  /** Empty: the newest job is gone. */
  readonly message: string;
};

export interface ErrorList {
  readonly errors: readonly ShownErrors[];
  /** There are further errors, with fewer failed attempts. */
  readonly hasMore: boolean;
}

/** The counted errors, read for all viewers of this process together. */
export class SharedErrors {
  readonly #lists: SharedRead<ErrorList, { readonly queue: string | undefined; readonly range: ErrorRange }>;

  constructor(
    private readonly admin: Pick<QueueAdmin, 'errors'>,
    private readonly redactor: Redactor,
    private readonly clock: Pick<Clock, 'monotonic' | 'now'>,
  ) {
    this.#lists = new SharedRead(({ queue, range }) => this.#load(queue, range), MAX_AGE_MS, clock);
  }

  /** Those of all queues that the viewer may read. */
  async ofAll(range: ErrorRange, mayRead: (queue: string) => Promise<boolean>): Promise<ErrorList> {
    const { errors, hasMore } = await this.ofQueue(undefined, range);
    return { errors: await filterAsync(errors, ({ queue }) => mayRead(queue)), hasMore };
  }

  /** Rejects with `InvalidOptionsError` if a caller without TypeScript gives another range. */
  async ofQueue(queue: string | undefined, range: ErrorRange): Promise<ErrorList> {
    InvalidOptionsError.throwIfAny('Board request', [
      expected(Object.hasOwn(RANGES, range), 'range to be hour, day or month', range),
    ]);
    return this.#lists.read({ queue, range });
  }

  async #load(queue: string | undefined, range: ErrorRange): Promise<ErrorList> {
    const { ms, step } = RANGES[range];
    const from = new Date(this.clock.now().getTime() - ms);
    const found = await this.admin.errors({ queue, step, limit: MAX_ERRORS + 1, ...(range !== 'hour' && { from }) });
    const errors = found.slice(0, MAX_ERRORS).map((one) => ({ ...one, message: this.#messageOf(one) }));
    return { errors, hasMore: found.length > MAX_ERRORS };
  }

  #messageOf({ queue, error, jobName, message }: QueueError): string {
    if (message === null || error === null) return '';
    // The rule of an application may look at the name or at the code.
    const stored = { name: error, code: error, message };
    return shownError(stored, { queue, name: jobName ?? '' }, this.redactor, MAX_MESSAGE_BYTES).message;
  }
}
