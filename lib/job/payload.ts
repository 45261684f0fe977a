import { isOver } from '../common/units.js';
import { andThen, type MaybePromise } from '../common/maybe-promise.js';
import { undecodableWithoutCodec, type ContentCodec } from './codec/content-codec.js';
import { isEnvelope, type CodecContext, type EncodeContext } from './codec/payload-codec.js';
import { PayloadInvalidError, PayloadTooLargeError } from './errors.js';
import { encodeJson } from './json.js';
import type { Outcome } from './outcome.js';
import type { ResolvedQueueOptions } from './queue-options.js';
import { validate } from './standard-schema.js';
import { storedError } from './stored-error.js';

/** The options of a queue for all content that its jobs store. */
export type ContentOptions = Pick<ResolvedQueueOptions, 'maxPayloadBytes' | 'codec'>;

/** The time from which on the job needs its payload, and the time within which its content must be encoded. */
type Due = Pick<EncodeContext, 'delayMs' | 'runAtMs' | 'timeoutMs'>;

/** Returns a promise only if the queue has a schema, which may be asynchronous, or if a codec does. */
export function encodePayload(
  queue: string,
  payload: unknown,
  options: ResolvedQueueOptions,
  name?: string,
  due?: Due,
): MaybePromise<string> {
  return options.schema
    ? encodeChecked(queue, payload, options, name, due)
    : encodeValue(queue, 'payload', payload, options, name, due);
}

async function encodeChecked(
  queue: string,
  payload: unknown,
  options: ResolvedQueueOptions,
  name: string | undefined,
  due: Due | undefined,
): Promise<string> {
  await checkPayload(queue, payload, options);
  // Stores the input of the schema, because the worker applies the schema again.
  return encodeValue(queue, 'payload', payload, options, name, due);
}

/** Returns a promise only if a codec does. */
export function encodeValue(
  queue: string,
  what: 'payload' | 'signal' | 'result' | 'step',
  value: unknown,
  options: ContentOptions,
  name?: string,
  due?: Due,
): MaybePromise<string> {
  const kind = what === 'payload' || what === 'signal' ? 'payload' : 'result';
  const encoded = encodeJson(value);
  if ('problem' in encoded)
    throw new PayloadInvalidError(queue, `${kind === 'result' ? 'result: ' : ''}${encoded.problem}`);
  const { text } = encoded;
  const { codec, maxPayloadBytes } = options;
  if (codec)
    return andThen(codec.encode(text, { what, queue, name, ...due }), sizeChecker(queue, kind, maxPayloadBytes));
  checkSize(queue, kind, text, maxPayloadBytes);
  if (kind === 'payload' && isEnvelope(text)) throw new PayloadInvalidError(queue, RESERVED);
  return text;
}

const RESERVED = 'expected no first property "$sql-queue", which is reserved for encoded payloads, got one';

/** The size of encoded content is the size that is stored. A function of its own, so that plain content needs no closure. */
function sizeChecker(queue: string, kind: 'payload' | 'result', maxBytes: number): (stored: string) => string {
  return (stored) => {
    checkSize(queue, kind, stored, maxBytes);
    return stored;
  };
}

/** In a process without codecs all content is plain: a handler must not receive an envelope as its payload. */
export function decodeWith(
  codec: ContentCodec | undefined,
  stored: string,
  context: CodecContext,
): MaybePromise<string> {
  if (codec) return codec.decode(stored, context);
  if (isEnvelope(stored)) throw undecodableWithoutCodec(stored, context);
  return stored;
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
  timeoutMs?: number | false,
): MaybePromise<string | null> {
  return result === undefined ? null : encodeValue(queue, what, result, options, undefined, { timeoutMs });
}

export type Completed = Extract<Outcome, { kind: 'complete' }>;

/** The outcome of jobs without a result. They share one object, because each of their own would live until its commit. */
export const COMPLETED: Completed = { kind: 'complete', result: null };

/**
 * The job completes even if its result cannot be stored. Never rejects.
 *
 * @param timeoutMs the timeout of the job: a codec or a blob store that hangs must not keep it from its end
 */
export function completeOutcome(
  queue: string,
  result: unknown,
  options: ContentOptions,
  timeoutMs: number | false = false,
): MaybePromise<Completed> {
  if (result === undefined) return COMPLETED;
  try {
    const encoded = encodeResult(queue, result, options, 'result', timeoutMs);
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

/** Throws PayloadInvalidError or PayloadTooLargeError. A codec encodes the text when it is stored. */
export function encodeProgress(queue: string, value: unknown, { maxPayloadBytes }: ContentOptions): string {
  const encoded = encodeJson(value);
  if ('problem' in encoded) throw new PayloadInvalidError(queue, `progress: ${encoded.problem}`);
  checkSize(queue, 'progress', encoded.text, maxPayloadBytes);
  return encoded.text;
}

export function checkSize(
  queue: string,
  what: 'payload' | 'result' | 'progress' | 'headers',
  text: string,
  limit: number,
): void {
  if (isOver(text, limit)) throw new PayloadTooLargeError(queue, what, Buffer.byteLength(text), limit);
}
