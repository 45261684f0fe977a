import { groupBy } from '../common/lists.js';
import { InvalidOptionsError } from '../job/errors.js';
import { unknownKeys, requireOptions } from '../job/expectation.js';
import { encodeValue } from '../job/job-content.js';
import { signalHash, signalProblems } from '../job/signal.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import type { InTransaction } from './enqueued-job.js';
import type { ProducerParts } from './producer-parts.js';

/**
 * Stores a signal, and wakes the jobs that wait for it once it has committed. Returns the number of jobs that it woke; null
 * if it cannot be known yet.
 */
export async function sendSignal(
  { steps, store, notifier, optionsFor }: ProducerParts,
  name: string,
  key: string,
  data: unknown,
  given: InTransaction,
  defaultManager: CallerTransaction | undefined,
): Promise<number | null> {
  const { manager = defaultManager, ...unknown } = requireOptions('Cannot send a signal', given);
  InvalidOptionsError.throwIfAny('Cannot send a signal', [
    ...signalProblems(name, key),
    ...unknownKeys(unknown, ['manager']),
  ]);
  const hash = signalHash(name, key);
  const encoded = data === undefined ? null : await encodeValue(name, 'signal', data, optionsFor(name));
  // The signal is stored by then. If this fails, a worker wakes the jobs within a minute.
  const wake = async () => {
    const woken = await steps.wakeWaiting(hash).catch(() => null);
    for (const [queue, { length }] of groupBy(woken ?? [], (job) => job.queue)) notifier.wake(queue, length);
    return woken && woken.length;
  };
  await steps.signal({ name, key, hash, data: encoded }, { transaction: manager });
  if (!manager) return wake();
  store.afterCommit(manager, () => void wake());
  return null;
}
