import { requireQueue } from '../../admin/require-queue.js';
import { NO_OWN_QUEUES } from '../../engine/own-queues.js';
import { isName } from '../../job/identifiers.js';
import type { Call } from './command.js';

/**
 * Rejects with a suggestion if the queue does not exist.
 *
 * @param queue undefined: the call names none
 */
export async function requireExisting({ engine }: Pick<Call, 'engine'>, queue: string | undefined, wayOut = '') {
  // The verb itself refuses an invalid name.
  if (isName(queue)) await requireQueue({ store: engine.stores.admin, ownQueues: NO_OWN_QUEUES }, queue, wayOut);
}

/** For commands with the option `--create`. */
export async function requireUnlessCreated(call: Pick<Call, 'engine' | 'options'>, queue: string): Promise<void> {
  if (!call.options.flag('create')) await requireExisting(call, queue, 'Add --create if you mean a new queue.');
}
