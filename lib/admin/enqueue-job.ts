import { buildJob } from '../job/job-content.js';
import type { EnqueueOptions } from '../job/enqueue-options.js';
import { QueueFullError, StoreUnavailableError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import { checkQueueName } from '../job/identifiers.js';
import type { PayloadOf, QueueName } from '../job/queue-jobs.js';
import type { EnqueuedJob } from '../job/enqueued-job.js';
import type { Change } from '../store/features/audit/audit-store.js';
import type { KeyedJobResult } from '../store/features/keys/key-store.js';
import type { AdminParts } from './admin-parts.js';
import { refuseManager, type OwnTransaction } from './in-transaction.js';
import { requireQueue, takeCreate, type MayCreateQueue } from './require-queue.js';

/** The options of a job that an administrator enqueues. */
export interface AdminEnqueueOptions extends EnqueueOptions, OwnTransaction, MayCreateQueue {}

const WHERE = 'Cannot enqueue';
// The lock timeout of every transaction of the library.
const LOCK_TIMEOUT_MS = 20_000;
const RETRY_MS = 20;

export async function enqueueJob<Queue extends QueueName>(
  parts: AdminParts,
  queue: Queue,
  payload: PayloadOf<Queue>,
  given: AdminEnqueueOptions,
): Promise<EnqueuedJob> {
  checkQueueName(queue);
  refuseManager(WHERE, given, 'the entry in the audit belongs to a transaction of the library');
  const { mayCreate, others } = takeCreate(WHERE, given);
  const { manager: _, ...options } = others;
  const job = await buildJob(queue, payload, options, parts.optionsFor, ['create']);
  if (!mayCreate) await requireQueue(parts, queue);
  await requireRoom(parts, job);
  const { headers: _headers, subject: _subject, ...recorded } = options;
  const call = { verb: 'enqueue', which: queue, options: recorded, queue } as const;
  const stored = await parts.audit.change(call, (change) => store(parts, job, change));
  const enqueued = { ...stored, queue };
  if (stored.outcome === 'created') parts.events.emitChanges('enqueued', [enqueued]);
  if (job.delayMs === null && job.runAtMs === null) parts.notifier.wake(queue);
  else parts.notifier.poll();
  return enqueued;
}

async function requireRoom({ jobs, optionsFor }: AdminParts, { queue, delayMs, runAtMs }: NewJob): Promise<void> {
  const { maxWaiting } = optionsFor(queue);
  if (maxWaiting === false || delayMs !== null || runAtMs !== null) return;
  const waiting = await jobs.countWaiting(queue, maxWaiting);
  if (waiting >= maxWaiting) throw new QueueFullError(queue, waiting, maxWaiting);
}

async function store({ store, clock }: AdminParts, job: NewJob, change: Change): Promise<KeyedJobResult> {
  if (!job.key) return { id: await store.enqueueCopy(job, change), name: job.name, outcome: 'created' };
  const until = clock.monotonic() + LOCK_TIMEOUT_MS;
  for (;;) {
    const stored = await store.enqueueKeyed(job, change);
    if (stored instanceof Error) throw stored;
    if (stored !== 'locked') return stored[0]!;
    if (clock.monotonic() >= until) throw lockTimeoutError(job.key.text);
    await clock.sleep(RETRY_MS);
  }
}

function lockTimeoutError(key: string): StoreUnavailableError {
  return new StoreUnavailableError(
    `Another transaction has locked the key ${JSON.stringify(key)} for ${LOCK_TIMEOUT_MS / 1_000} s. Call again.`,
    'not-done',
    undefined,
    true,
  );
}
