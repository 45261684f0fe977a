import { buildJob } from '../job/job-content.js';
import type { EnqueueOptions } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { checkQueueName } from '../job/identifiers.js';
import type { JobOverrides } from '../job/job-overrides.js';
import { requireOptions } from '../job/expectation.js';
import { resolveWaitOptions } from '../job/wait-options.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import type { InTransaction, RequestOptions } from './enqueued-job.js';
import type { JobInserter } from './job-inserter.js';
import type { ProducerParts } from './producer-parts.js';

/** Enqueues a job that keeps its result for this call only, and waits for it. */
export async function sendRequest(
  { optionsFor, tracker }: ProducerParts,
  inserter: JobInserter,
  queue: string,
  payload: unknown,
  given: RequestOptions,
  ownManager: CallerTransaction | undefined,
): Promise<unknown> {
  checkQueueName(queue);
  const where = `Cannot request from "${queue}"`;
  const { timeout = '30s', signal, onProgress, ...options } = requireOptions('Cannot enqueue', given);
  const { manager = ownManager } = options as InTransaction;
  InvalidOptionsError.throwIfAny(where, [
    (options as EnqueueOptions).key !== undefined
      ? 'expected no key, got one: only one caller gets the result of a request. Use enqueue() with the key, and waitFor() its id'
      : undefined,
    manager && 'expected no manager, got one: no worker can see the job before the transaction of the manager commits',
  ]);
  const wait = resolveWaitOptions(where, { timeout, ...(signal && { signal }), ...(onProgress && { onProgress }) });
  signal?.throwIfAborted();
  const job = await buildJob(queue, payload, options, optionsFor);
  const overrides = { ...(job.overrides && (JSON.parse(job.overrides) as JobOverrides)), reply: true };
  const request = { ...job, overrides: JSON.stringify(overrides) };
  const [enqueued] = await inserter.insert('request', [request], undefined);
  return tracker.waitForReply(enqueued!.id, queue, wait);
}
