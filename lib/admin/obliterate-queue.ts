import type { RecordedChanges } from '../audit/audit-trail.js';
import type { ResolvedBulk } from '../job/bulk-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, requireOptions } from '../job/expectation.js';
import { checkQueueName } from '../job/identifiers.js';
import { abortSignal, checked, flag, option, optionProblems, type SchemaOf } from '../job/option-schema.js';
import type { AdminParts } from './admin-parts.js';
import { refuseManager } from './in-transaction.js';
import { JobBatches } from './job-batches.js';
import { requireQueue } from './require-queue.js';

export interface ObliterateOptions {
  /** The name of the queue again, so that no other queue is obliterated by mistake. Not needed for a dry run. */
  confirm?: string;
  /** Changes nothing: resolves with the number of jobs that the queue has now. Default false. */
  dryRun?: boolean;
  /** Ends the call before the next batch: it rejects with the reason. A further call goes on. */
  signal?: AbortSignal;
}

const OPTIONS = {
  confirm: checked(() => []),
  dryRun: option(flag, false),
  signal: option(abortSignal),
} satisfies SchemaOf<ObliterateOptions>;

// Producers and workers that were not stopped may add jobs meanwhile.
const MAX_ROUNDS = 10;

/** Resolves with the number of removed jobs. */
export async function obliterateQueue(parts: AdminParts, queue: string, given: ObliterateOptions): Promise<number> {
  checkQueueName(queue);
  const where = `Cannot obliterate queue "${queue}"`;
  const { confirm, dryRun = false, signal } = requireOptions(where, given);
  refuseManager(where, given, 'it deletes the queue in many transactions');
  InvalidOptionsError.throwIfAny(where, [
    ...optionProblems(OPTIONS, given),
    expected(dryRun || confirm === queue, `confirm to be "${queue}"`, confirm),
  ]);
  await requireQueue(parts, queue, '');
  const { store, audit, notifier } = parts;
  if (dryRun) return Object.values(await store.counts(queue)).reduce((sum, count) => sum + count, 0);
  return audit.record({ verb: 'obliterate', which: queue, queue }, async (changes) => {
    // Until its row is deleted, no process claims its jobs.
    await store.setPaused([queue], true);
    notifier.poll();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await releaseActive(parts, queue, signal);
      if ((await removeJobs(parts, queue, changes, signal)) === 0) break;
    }
    const removed = changes.count;
    await changes.run((change) => store.eraseQueue(queue, change));
    notifier.poll();
    return removed;
  });
}

/** Takes the active jobs from their workers and people, whose later writes the fence rejects. */
async function releaseActive(parts: AdminParts, queue: string, signal: AbortSignal | undefined): Promise<void> {
  const batches = new JobBatches(parts);
  const active = [{ queue, state: 'active' }] as const;
  for (let released = 1; released > 0;) {
    released = await batches.inBatches(undefined, active, [], everyJob(signal), async (ids) => {
      const done: number[] = [];
      for (const id of ids) if (await releaseOne(parts, id)) done.push(id);
      return done;
    });
  }
}

async function releaseOne({ store, events, notifier }: AdminParts, id: number): Promise<boolean> {
  const released = await store.release(id);
  if (!released) return false;
  events.emitChanges('released', [released]);
  if (released.owner === null) notifier.readCancelRequests(released.workerId);
  return true;
}

async function removeJobs(
  parts: AdminParts,
  queue: string,
  changes: RecordedChanges,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { store, followEnds } = parts;
  return new JobBatches(parts).inBatches('removed', [{ queue }], [], everyJob(signal), async (ids) => {
    const removed = await changes.run((change) => store.remove(ids, change, { queue }));
    await followEnds(removed);
    return removed;
  });
}

function everyJob(signal: AbortSignal | undefined): ResolvedBulk {
  return { dryRun: false, limit: Number.MAX_SAFE_INTEGER, onProgress: undefined, signal };
}
