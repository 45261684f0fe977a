import { resolveBulk, type BulkOptions } from '../job/bulk-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import type { RekeyCount } from '../store/features/content/content-store.js';
import type { AdminParts } from './admin-parts.js';

/** Encodes stored content anew, batch by batch. */
export async function rekey({ content }: AdminParts, options: BulkOptions): Promise<RekeyCount> {
  const { dryRun, limit, onProgress, signal } = resolveBulk('Cannot rekey', options);
  InvalidOptionsError.throwIfAny('Cannot rekey', [
    content ? undefined : 'expected the module option `codec`, got none: this process cannot encode content',
  ]);
  const rekeyNext = content!.rekey({ dryRun });
  let [rekeyed, active, undecodable] = [0, 0, 0];
  for (let hasMore = true; hasMore && rekeyed < limit;) {
    signal?.throwIfAborted();
    const batch = await rekeyNext(limit - rekeyed);
    rekeyed += batch.rekeyed;
    active += batch.active;
    undecodable += batch.undecodable;
    ({ hasMore } = batch);
    if (batch.rekeyed > 0) onProgress?.(rekeyed);
  }
  return { rekeyed, active, undecodable };
}
