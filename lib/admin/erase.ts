import type { RecordedChanges } from '../audit/audit-trail.js';
import { pageSize } from '../common/lists.js';
import { resolveBulk, type BulkOptions, type ResolvedBulk } from '../job/bulk-options.js';
import { SUBJECT } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { problemOf } from '../job/option-schema.js';
import type { AdminParts } from './admin-parts.js';
import { cancelAll } from './cancel-jobs.js';

/** The result of an erasure. */
export interface Erasure {
  /** The jobs whose content was erased. */
  readonly erased: number;
  /** Jobs that a worker runs or a person holds. Their cancellation was requested: erase again when they have ended. */
  readonly active: number;
}

// Few, because the transaction locks the jobs.
const BATCH_SIZE = 50;

export async function eraseSubject(parts: AdminParts, subject: string, options: BulkOptions): Promise<Erasure> {
  const bulk = resolveBulk('Cannot erase', options);
  InvalidOptionsError.throwIfAny('Cannot erase', [problemOf('the subject', SUBJECT, subject)]);
  if (bulk.dryRun) return { erased: await parts.subjects.count(subject, bulk.limit), active: 0 };
  // The audit outlives the erasure, so its entry must not name the subject.
  const call = {
    verb: 'erase',
    which: null,
    ...(options.limit !== undefined && { options: { limit: bulk.limit } }),
  } as const;
  return parts.audit.record(call, (changes) => erase(parts, subject, bulk, changes));
}

async function erase(
  parts: AdminParts,
  subject: string,
  { limit, onProgress, signal }: ResolvedBulk,
  changes: RecordedChanges,
): Promise<Erasure> {
  const { subjects, blobs, optionsFor, events, followEnds } = parts;
  const retentionMs = (queue: string) => optionsFor(queue).retention.deadMs;
  const deleted = new Set<string>();
  const mayForget = (blob: string) => blobs?.canDelete === false || deleted.has(blob);
  let [erased, active] = [0, 0];
  for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined && erased < limit;) {
    signal?.throwIfAborted();
    const from: number = after;
    const size = Math.min(pageSize(BATCH_SIZE), limit - erased);
    const batch = await changes.run((change) => subjects.erase(subject, from, size, retentionMs, mayForget, change));
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
    await cancelAll(parts, batch.active, changes);
    active += batch.active.length;
    after = batch.next;
  }
  await changes.run((change) => subjects.eraseSignals(subject, change));
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
