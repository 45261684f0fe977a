import { PayloadInvalidError, PayloadTooLargeError } from './errors.js';
import { encodeJson } from './json.js';
import type { Outcome } from './outcome.js';
import type { ResolvedQueueOptions } from './queue-options.js';
import { validate } from './standard-schema.js';
import { storedError } from './stored-error.js';

export async function encodePayload(queue: string, payload: unknown, options: ResolvedQueueOptions): Promise<string> {
  // Stores the input of the schema, because the worker applies the schema again.
  await checkPayload(queue, payload, options);
  return encodeWithoutSchema(queue, payload, options);
}

export function encodeWithoutSchema(queue: string, payload: unknown, options: ResolvedQueueOptions): string {
  const encoded = encodeJson(payload);
  if ('problem' in encoded) throw new PayloadInvalidError(queue, encoded.problem);
  checkSize(queue, 'payload', encoded.text, options.maxPayloadBytes);
  return encoded.text;
}

/** The output of the schema; the payload itself if the queue has no schema. */
export async function checkPayload(queue: string, payload: unknown, options: ResolvedQueueOptions): Promise<unknown> {
  if (!options.schema) return payload;
  const checked = await validate(options.schema, payload);
  if ('problem' in checked) throw new PayloadInvalidError(queue, checked.problem);
  return checked.value;
}

export function encodeResult(queue: string, result: unknown, limit: number): string | null {
  if (result === undefined) return null;
  const encoded = encodeJson(result);
  if ('problem' in encoded) throw new PayloadInvalidError(queue, `result: ${encoded.problem}`);
  checkSize(queue, 'result', encoded.text, limit);
  return encoded.text;
}

/** The job completes even if its result cannot be stored. */
export function completeOutcome(queue: string, result: unknown, limit: number): Extract<Outcome, { kind: 'complete' }> {
  try {
    return { kind: 'complete', result: encodeResult(queue, result, limit) };
  } catch (error) {
    return completeWithoutResult(storedError(error).message);
  }
}

export function completeWithoutResult(problem: string): Extract<Outcome, { kind: 'complete' }> {
  return {
    kind: 'complete',
    result: null,
    error: { name: 'ResultInvalidError', code: 'RESULT_INVALID', message: problem },
  };
}

export function checkSize(
  queue: string,
  what: 'payload' | 'result' | 'progress' | 'headers',
  text: string,
  limit: number,
): void {
  // A UTF-16 unit takes at most three bytes, so short texts need no count.
  if (text.length * 3 <= limit) return;
  const bytes = Buffer.byteLength(text);
  if (bytes > limit) throw new PayloadTooLargeError(queue, what, bytes, limit);
}
