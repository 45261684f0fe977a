import { groupBy } from '../common/lists.js';
import { InvalidOptionsError } from '../job/errors.js';
import { encodeValue } from '../job/job-content.js';
import { signalHash, signalProblems } from '../job/signal.js';
import type { AdminParts } from './admin-parts.js';
import { partsFor, type ChangeOptions } from './in-transaction.js';

/** Like `QueueProducer.signal`, with an entry in the audit. */
export async function sendSignal(
  given: AdminParts,
  name: string,
  key: string,
  data: unknown,
  options: ChangeOptions,
): Promise<number | null> {
  const where = 'Cannot send a signal';
  InvalidOptionsError.throwIfAny(where, signalProblems(name, key));
  const { audit, steps, jobs, transaction } = partsFor(given, where, options);
  const hash = signalHash(name, key);
  const encoded = data === undefined ? null : await encodeValue(name, 'signal', data, given.optionsFor(name));
  await audit.change({ verb: 'signal', which: { name, key } }, (change) =>
    steps.signal({ name, key, hash, data: encoded }, change),
  );
  // The signal is stored by then. If this fails, a worker wakes the jobs within a minute.
  const wake = async () => {
    const woken = await steps.wakeWaiting(hash).catch(() => null);
    for (const queue of groupBy(woken ?? [], (job) => job.queue).keys()) given.notifier.wake(queue);
    return woken && woken.length;
  };
  if (!transaction) return wake();
  jobs.afterCommit(transaction, () => void wake());
  return null;
}
