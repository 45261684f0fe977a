import { isEnvelope, type CodecContent, type EncodeContext } from './codec/payload-codec.js';
import { PayloadInvalidError, PayloadTooLargeError } from './errors.js';
import { encodeJson } from './json.js';
import type { Outcome } from './outcome.js';
import type { ResolvedQueueOptions } from './queue-options.js';
import { validate } from './standard-schema.js';
import { storedError } from './stored-error.js';
import { andThen, type MaybePromise } from './user-rule.js';

/** The options of a queue for all content that its jobs store. */
export type ContentOptions = Pick<ResolvedQueueOptions, 'maxPayloadBytes' | 'codec'>;

/** The time from which on the job needs its payload. */
type Due = Pick<EncodeContext, 'delayMs' | 'runAtMs'>;

export async function encodePayload(
  queue: string,
  payload: unknown,
  options: ResolvedQueueOptions,
  name?: string,
  due?: Due,
): Promise<string> {
  // Stores the input of the schema, because the worker applies the schema again.
  await checkPayload(queue, payload, options);
  return encodeWithoutSchema(queue, payload, options, 'payload', name, due);
}

/** Returns a promise only if a codec does. */
export function encodeWithoutSchema(
  queue: string,
  payload: unknown,
  options: ContentOptions,
  what: 'payload' | 'signal' = 'payload',
  name?: string,
  due?: Due,
): MaybePromise<string> {
  const encoded = encodeJson(payload);
  if ('problem' in encoded) throw new PayloadInvalidError(queue, encoded.problem);
  const { codec, maxPayloadBytes } = options;
  if (codec) return encodeContent(queue, what, encoded.text, { codec, maxPayloadBytes }, name, due);
  checkSize(queue, 'payload', encoded.text, maxPayloadBytes);
  if (isEnvelope(encoded.text)) throw new PayloadInvalidError(queue, RESERVED);
  return encoded.text;
}

const RESERVED = 'expected no first property "$sql-queue", which is reserved for encoded payloads, got one';

/** The size of encoded content is the size that is stored. */
function encodeContent(
  queue: string,
  what: CodecContent,
  text: string,
  { codec, maxPayloadBytes }: Required<ContentOptions>,
  name?: string,
  due?: Due,
): MaybePromise<string> {
  return andThen(codec.encode(text, { what, queue, name, ...due }), (stored) => {
    checkSize(queue, what === 'payload' || what === 'signal' ? 'payload' : 'result', stored, maxPayloadBytes);
    return stored;
  });
}

/** The output of the schema; the payload itself if the queue has no schema. */
export async function checkPayload(queue: string, payload: unknown, options: ResolvedQueueOptions): Promise<unknown> {
  if (!options.schema) return payload;
  const checked = await validate(options.schema, payload);
  if ('problem' in checked) throw new PayloadInvalidError(queue, checked.problem);
  return checked.value;
}

/** Null for no result. Returns a promise only if a codec does. */
export function encodeResult(
  queue: string,
  result: unknown,
  options: ContentOptions,
  what: 'result' | 'step' = 'result',
): MaybePromise<string | null> {
  if (result === undefined) return null;
  const encoded = encodeJson(result);
  if ('problem' in encoded) throw new PayloadInvalidError(queue, `result: ${encoded.problem}`);
  const { codec, maxPayloadBytes } = options;
  if (codec) return encodeContent(queue, what, encoded.text, { codec, maxPayloadBytes });
  checkSize(queue, 'result', encoded.text, maxPayloadBytes);
  return encoded.text;
}

export type Completed = Extract<Outcome, { kind: 'complete' }>;

/** The outcome of jobs without a result. They share one object, because each of their own would live until its commit. */
export const COMPLETED: Completed = { kind: 'complete', result: null };

/** The job completes even if its result cannot be stored. Never rejects. */
export function completeOutcome(queue: string, result: unknown, options: ContentOptions): MaybePromise<Completed> {
  if (result === undefined) return COMPLETED;
  try {
    const encoded = encodeResult(queue, result, options);
    return encoded instanceof Promise ? encoded.then(completeWith, completeDespite) : completeWith(encoded);
  } catch (error) {
    return completeDespite(error);
  }
}

function completeWith(result: string | null): Completed {
  return { kind: 'complete', result };
}

function completeDespite(error: unknown): Completed {
  return completeWithoutResult(storedError(error).message);
}

export function completeWithoutResult(problem: string): Completed {
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
