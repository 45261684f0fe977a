import { PayloadInvalidError, PayloadTooLargeError } from './errors.js';
import { encodeJson } from './json.js';
import type { Outcome } from './outcome.js';
import type { ResolvedQueueOptions } from './queue-options.js';
import { validate } from './standard-schema.js';
import { storedError } from './stored-error.js';

/** The payload as it is stored. Rejects before any SQL where it cannot be. */
export async function encodePayload(queue: string, payload: unknown, options: ResolvedQueueOptions): Promise<string> {
  // Checked only: what the schema makes of it is made before the handler, and not twice.
  await checkPayload(queue, payload, options);
  return encodeUnchecked(queue, payload, options);
}

/** The same where there is no schema, at once. */
export function encodeUnchecked(queue: string, payload: unknown, options: ResolvedQueueOptions): string {
  const encoded = encodeJson(payload);
  if ('problem' in encoded) throw new PayloadInvalidError(queue, encoded.problem);
  checkSize(queue, 'payload', encoded.text, options.maxPayloadBytes);
  return encoded.text;
}

/** The payload as the queue's schema gives it back; unchanged where there is none. */
export async function checkPayload(queue: string, payload: unknown, options: ResolvedQueueOptions): Promise<unknown> {
  if (!options.schema) return payload;
  const checked = await validate(options.schema, payload);
  if ('problem' in checked) throw new PayloadInvalidError(queue, checked.problem);
  return checked.value;
}

/** What a handler returned, as it is stored; nothing for undefined. */
export function encodeResult(queue: string, result: unknown, limit: number): string | null {
  if (result === undefined) return null;
  const encoded = encodeJson(result);
  if ('problem' in encoded) throw new PayloadInvalidError(queue, `result: ${encoded.problem}`);
  checkSize(queue, 'result', encoded.text, limit);
  return encoded.text;
}

/** The same for a job that is done whatever its result: without one that cannot be stored, and with the reason. */
export function completion(queue: string, result: unknown, limit: number): Extract<Outcome, { kind: 'complete' }> {
  try {
    return { kind: 'complete', result: encodeResult(queue, result, limit) };
  } catch (error) {
    return completionWithout(storedError(error).message);
  }
}

/** A completion without the result, and why. */
export function completionWithout(problem: string): Extract<Outcome, { kind: 'complete' }> {
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
  // A character is three bytes at the most, so short texts need no counting.
  if (text.length * 3 <= limit) return;
  const bytes = Buffer.byteLength(text);
  if (bytes > limit) throw new PayloadTooLargeError(queue, what, bytes, limit);
}
