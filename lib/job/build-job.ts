import { resolveEnqueueOptions, type EnqueueOptions } from './enqueue-options.js';
import type { NewJob } from './job.js';
import { checkQueueName } from './job-names.js';
import { checkSize, encodePayload, encodeWithoutSchema } from './payload.js';
import type { ResolvedQueueOptions } from './queue-options.js';

// Enough for trace context. Larger values belong in the payload.
const MAX_HEADER_BYTES = 16_384;

/** Returns a promise only if the queue has a schema, which may be asynchronous. */
export function buildJob(
  queue: string,
  payload: unknown,
  options: EnqueueOptions | undefined,
  optionsFor: (queue: string) => ResolvedQueueOptions,
): NewJob | Promise<NewJob> {
  checkQueueName(queue);
  const { name, priority, delayMs, runAtMs, attempts, headers, overrides, key } = resolveEnqueueOptions(queue, options);
  const queueOptions = optionsFor(queue);
  const headerText = headers && JSON.stringify(headers);
  if (headerText) checkSize(queue, 'headers', headerText, MAX_HEADER_BYTES);
  const overrideText = overrides && JSON.stringify(overrides);
  // Each property is written out, because spreading takes longer than all other work on a job here.
  const jobOf = (encoded: string): NewJob => ({
    queue,
    name,
    payload: encoded,
    priority,
    delayMs,
    runAtMs,
    // If it is null, the claiming process decides. A process that only produces need not know the retry options.
    maxAttempts: attempts,
    headers: headerText,
    overrides: overrideText,
    key,
  });
  if (!queueOptions.schema) return jobOf(encodeWithoutSchema(queue, payload, queueOptions));
  return encodePayload(queue, payload, queueOptions).then(jobOf);
}
