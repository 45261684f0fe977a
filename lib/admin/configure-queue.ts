import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import { checkQueueName } from '../job/identifiers.js';
import { configurationProblems, type QueueConfiguration } from '../job/settings/queue-configuration.js';
import type { AdminParts } from './admin-parts.js';
import { partsFor } from './in-transaction.js';
import { requireQueue, takeCreate, type QueueChangeOptions } from './require-queue.js';

/** Why a transaction of the caller must not change the limits of a queue. */
export const LIMITS_ARE_LOCKED = 'claims of the queue would wait for its limits until your transaction ends';

export async function configureQueue(
  parts: AdminParts,
  queue: string,
  given: QueueConfiguration | null,
  options: QueueChangeOptions,
): Promise<void> {
  checkQueueName(queue);
  const where = 'Cannot configure the queue';
  InvalidOptionsError.throwIfAny(where, configurationProblems(given));
  const { mayCreate, others } = takeCreate(where, options);
  const own = partsFor(parts, where, others);
  if (options.manager !== undefined) InvalidOptionsError.throwIfAny(where, [limitsProblem(given)]);
  if (!mayCreate) await requireQueue(own, queue);
  const { store, audit, notifier } = own;
  const call = { verb: 'configure', which: queue, options: given, queue } as const;
  await audit.change(call, (change) => store.configure(queue, given, change));
  notifier.poll();
}

function limitsProblem(given: QueueConfiguration | null): string | undefined {
  const hasLimits = given === null || given.maxRunning !== undefined || given.rate !== undefined;
  const what = `only concurrency, paused and enabled with a manager, because ${LIMITS_ARE_LOCKED} (set others after your commit)`;
  return expected(!hasLimits, what, given);
}
