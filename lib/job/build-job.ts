import { andThen } from '../common/maybe-promise.js';
import { InvalidOptionsError } from './errors.js';
import { resolveEnqueueOptions, type EnqueueOptions } from './enqueue-options.js';
import type { NewJob } from './job.js';
import { checkQueueName } from './identifiers.js';
import { checkSize, encodePayload } from './payload.js';
import type { ResolvedQueueOptions } from './queue-options.js';

// Enough for trace context. Larger values belong in the payload.
const MAX_HEADER_BYTES = 16_384;

/**
 * Returns a promise only if the queue has a schema, which may be asynchronous, or if a codec returns one.
 *
 * @param also options that the caller has taken out, so that a misspelt name finds them
 */
export function buildJob(
  queue: string,
  payload: unknown,
  options: EnqueueOptions | undefined,
  optionsFor: (queue: string) => ResolvedQueueOptions,
  also?: readonly string[],
): NewJob | Promise<NewJob> {
  checkQueueName(queue);
  const given = resolveEnqueueOptions(queue, options, also);
  const { name, runAtMs, attempts, overrides, key, group, subject } = given;
  const queueOptions = optionsFor(queue);
  if (group !== undefined) requireGroups(queue, queueOptions, key);
  const { jobDefaults } = queueOptions;
  const headers = jobDefaults.headers ? { ...jobDefaults.headers, ...given.headers } : given.headers;
  const headerText = headers && encodeHeaders(queue, headers);
  const overrideText = overrides && JSON.stringify(overrides);
  const delayMs = options?.delay === undefined && runAtMs === null ? jobDefaults.delay || null : given.delayMs;
  // Each property is written out, because spreading takes longer than all other work on a job here.
  const jobOf = (encoded: string): NewJob => ({
    queue,
    name,
    payload: encoded,
    priority: options?.priority === undefined ? (jobDefaults.priority ?? 0) : given.priority,
    delayMs,
    runAtMs,
    // If it is null, the claiming process decides. A process that only produces need not know the retry options.
    maxAttempts: attempts,
    headers: headerText,
    overrides: overrideText,
    key,
    group,
    subject,
  });
  const due = queueOptions.codec && { delayMs, runAtMs };
  return andThen(encodePayload(queue, payload, queueOptions, name, due), jobOf);
}

/** Null for no headers. Throws PayloadTooLargeError. */
export function encodeHeaders(queue: string, headers: Record<string, string>): string | null {
  if (Object.keys(headers).length === 0) return null;
  const text = JSON.stringify(headers);
  checkSize(queue, 'headers', text, MAX_HEADER_BYTES);
  return text;
}

/** Whether headers that are encoded as this text can be stored. */
export function fitsHeaders(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_HEADER_BYTES;
}

function requireGroups(queue: string, { groups }: ResolvedQueueOptions, key: NewJob['key']): void {
  const runsAfter = key?.onConflict === 'after';
  const runsInOrder = groups?.concurrency === 1 && groups.onRetry === 'wait';
  InvalidOptionsError.throwIfAny(`Cannot enqueue into "${queue}"`, [
    groups ? undefined : `queue "${queue}" has no groups; add groups: {} to its options`,
    groups && runsAfter && !runsInOrder
      ? `onConflict: 'after' needs groups: { concurrency: 1 } in the options of queue "${queue}"`
      : undefined,
  ]);
}
