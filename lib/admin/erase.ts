import { resolveBulk, type BulkOptions } from '../job/bulk-options.js';
import { SUBJECT } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import type { AdminParts } from './admin-parts.js';

/** The result of an erasure. */
export interface Erasure {
  /** The jobs whose content was erased. */
  readonly erased: number;
  /** Jobs that a worker runs or a person holds. Their cancellation was requested: erase again when they have ended. */
  readonly active: number;
}

// Few, because the transaction locks the jobs.
const BATCH_SIZE = 50;

export async function eraseSubject(
  parts: Pick<AdminParts, 'subjects' | 'optionsFor' | 'waitNotifier' | 'events' | 'flowSettler'>,
  subject: string,
  options: BulkOptions,
  cancelOne: (id: number) => Promise<unknown>,
): Promise<Erasure> {
  const { dryRun, limit, onProgress, signal } = resolveBulk('Cannot erase', options);
  InvalidOptionsError.throwIfAny('Cannot erase', [
    expected(SUBJECT.parse(subject) !== undefined, `the subject to be ${SUBJECT.expected}`, subject),
  ]);
  const { subjects, optionsFor, waitNotifier, events, flowSettler } = parts;
  if (dryRun) return { erased: await subjects.count(subject, limit), active: 0 };
  const retentionMs = (queue: string) => optionsFor(queue).retention.deadMs;
  let [erased, active] = [0, 0];
  for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined && erased < limit;) {
    signal?.throwIfAborted();
    const batch = await subjects.erase(subject, after, Math.min(BATCH_SIZE, limit - erased), retentionMs);
    for (const { id } of batch.cancelled) waitNotifier.notifyAlways(id);
    events.emit('cancelled', batch.cancelled);
    await flowSettler.settle(batch.cancelled.map(({ id }) => id));
    for (const id of batch.active) await cancelOne(id);
    erased += batch.erased.length;
    active += batch.active.length;
    after = batch.next;
    if (batch.erased.length > 0) onProgress?.(erased);
  }
  await subjects.eraseSignals(subject);
  return { erased, active };
}
