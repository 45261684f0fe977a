import { InvalidOptionsError, QueueNotFoundError } from '../job/errors.js';
import { flag, option } from '../job/option-schema.js';
import { requireOptions } from '../job/expectation.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import type { AdminParts } from './admin-parts.js';
import { givenFilter, type JobSelection } from './job-selection.js';
import type { ChangeOptions, OwnTransaction } from './in-transaction.js';

/** Whether a verb may create its queue. */
export interface MayCreateQueue {
  /**
   * Allows a queue that does not exist yet. Without it the call rejects with QueueNotFoundError, because the name may be
   * misspelt. A queue exists if it has jobs, settings, schedules, subscriptions or a worker, or if this process declares it.
   * Default false.
   */
  create?: boolean;
}

/** Options of a change of one queue. See ChangeOptions and MayCreateQueue. */
export interface QueueChangeOptions extends ChangeOptions, MayCreateQueue {}

/** Options of a change of the limits or groups of one queue. See OwnTransaction and MayCreateQueue. */
export interface QueueLimitOptions extends OwnTransaction, MayCreateQueue {}

const CREATE = option(flag, false);

/** The options without `create`. Throws if that is no flag. */
export function takeCreate<Given extends MayCreateQueue>(
  where: string,
  given: Given,
): { mayCreate: boolean; others: Omit<Given, 'create'> } {
  const { create, ...others } = requireOptions(where, given);
  if (create !== undefined) InvalidOptionsError.throwIfAny(where, CREATE.problems('create', create));
  return { mayCreate: CREATE.resolve(create), others };
}

type Parts = Pick<AdminParts, 'store' | 'ownQueues'> & { readonly transaction?: CallerTransaction | undefined };

const MEANS_NEW = 'Pass { create: true } if you mean a new queue.';

/**
 * Throws QueueNotFoundError if neither this process nor the database knows the queue.
 *
 * @param wayOut for a caller that means a new queue
 */
export async function requireQueue(
  { store, ownQueues, transaction }: Parts,
  queue: string,
  wayOut = MEANS_NEW,
): Promise<void> {
  if (ownQueues.declared().includes(queue) || (await store.hasQueue(queue, transaction))) return;
  const known = new Set([...(await store.queueNames()), ...ownQueues.declared()]);
  throw new QueueNotFoundError(queue, [...known].sort(), wayOut);
}

/** Like `requireQueue`, for the queue of a filter. Other selections name none. */
export async function requireSelectedQueue(parts: Parts, which: JobSelection): Promise<void> {
  const queue = givenFilter(which)?.queue;
  if (queue !== undefined) await requireQueue(parts, queue, '');
}
