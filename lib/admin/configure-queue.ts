import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import { checkQueueName } from '../job/job-names.js';
import { configurationProblems, type QueueConfiguration } from '../job/settings/queue-configuration.js';
import type { AdminParts } from './admin-parts.js';
import { partsFor, type ChangeOptions } from './in-transaction.js';

/** Why a transaction of the caller must not change the limits of a queue. */
export const LIMITS_ARE_LOCKED = 'claims of the queue would wait for its limits until your transaction ends';

export async function configureQueue(
  parts: AdminParts,
  queue: string,
  given: QueueConfiguration | null,
  options: ChangeOptions,
): Promise<void> {
  checkQueueName(queue);
  const where = 'Cannot configure the queue';
  InvalidOptionsError.throwIfAny(where, configurationProblems(given));
  const { store, audit, notifier } = partsFor(parts, where, options);
  if (options.manager !== undefined) InvalidOptionsError.throwIfAny(where, [limitsProblem(given)]);
  const call = { verb: 'configure', which: queue, options: given, queue } as const;
  await audit.change(call, (change) => store.configure(queue, given, change));
  notifier.poll();
}

function limitsProblem(given: QueueConfiguration | null): string | undefined {
  const hasLimits = given === null || given.maxRunning !== undefined || given.rate !== undefined;
  const what = `only concurrency, paused and enabled with a manager, because ${LIMITS_ARE_LOCKED} (set others after your commit)`;
  return expected(!hasLimits, what, given);
}
