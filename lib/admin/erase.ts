import { pageSize } from '../common/lists.js';
import { resolveBulk, type BulkOptions } from '../job/bulk-options.js';
import { SUBJECT } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { problemOf } from '../job/option-schema.js';
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
  parts: AdminParts,
  subject: string,
  options: BulkOptions,
  cancelOne: (id: number) => Promise<unknown>,
): Promise<Erasure> {
  const { dryRun, limit, onProgress, signal } = resolveBulk('Cannot erase', options);
  InvalidOptionsError.throwIfAny('Cannot erase', [problemOf('the subject', SUBJECT, subject)]);
  const { subjects, blobs, optionsFor, events, followEnds } = parts;
  if (dryRun) return { erased: await subjects.count(subject, limit), active: 0 };
  const retentionMs = (queue: string) => optionsFor(queue).retention.deadMs;
  const deleted = new Set<string>();
  const mayForget = (blob: string) => blobs?.canDelete === false || deleted.has(blob);
  let [erased, active] = [0, 0];
  for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined && erased < limit;) {
    signal?.throwIfAborted();
    const batch = await subjects.erase(
      subject,
      after,
      Math.min(pageSize(BATCH_SIZE), limit - erased),
      retentionMs,
      mayForget,
    );
    events.emitChanges('cancelled', batch.cancelled);
    await followEnds(batch.cancelled.map(({ id }) => id));
    erased += batch.erased.length;
    if (batch.erased.length > 0) onProgress?.(erased);
    if (batch.blobs.length > 0) {
      // Before their references, so that an interrupted erasure finds them again. The next batch erases their jobs.
      await deleteBlobs(blobs, batch.blobs);
      for (const blob of batch.blobs) deleted.add(blob);
      continue;
    }
    for (const id of batch.active) await cancelOne(id);
    active += batch.active.length;
    after = batch.next;
  }
  await subjects.eraseSignals(subject);
  return { erased, active };
}

async function deleteBlobs(blobs: AdminParts['blobs'], references: readonly string[]): Promise<void> {
  InvalidOptionsError.throwIfAny('Cannot erase', [
    blobs
      ? undefined
      : 'expected the module option `blobs`, got none: jobs of the subject have content in a blob store',
  ]);
  await blobs!.delete(references);
}
