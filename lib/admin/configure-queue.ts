import { InvalidOptionsError } from '../job/errors.js';
import { checkQueueName } from '../job/job-names.js';
import { configurationProblems, type QueueConfiguration } from '../job/settings/queue-configuration.js';
import type { AdminParts } from './admin-parts.js';

export async function configureQueue(
  { store, audit, notifier }: Pick<AdminParts, 'store' | 'audit' | 'notifier'>,
  queue: string,
  given: QueueConfiguration | null,
): Promise<void> {
  checkQueueName(queue);
  InvalidOptionsError.throwIfAny('Cannot configure the queue', configurationProblems(given));
  const call = { verb: 'configure', which: queue, options: given, queue } as const;
  await audit.change(
    call,
    (change) => store.configure(queue, given, change),
    () => 1,
  );
  notifier.poll();
}
