import { andThen, type MaybePromise } from '../common/maybe-promise.js';
import { undecodableWithoutCodec, type ContentCodec } from './codec/content-codec.js';
import { ENVELOPE_PREFIX, type CodecContext, type EncodeContext } from './codec/payload-codec.js';
import { NO_ENQUEUE_OPTIONS, resolveEnqueueOptions, type EnqueueOptions } from './enqueue-options.js';
import { InvalidOptionsError, PayloadInvalidError, PayloadTooLargeError } from './errors.js';
import { expected } from './expectation.js';
import { checkQueueName } from './identifiers.js';
import type { NewJob } from './job.js';
import { encodeJson, isOver } from './json.js';
import type { ResolvedQueueOptions } from './queue-options.js';
import { validate } from './standard-schema.js';

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
  const given = options === undefined ? NO_ENQUEUE_OPTIONS : resolveEnqueueOptions(queue, options, also);
  const { name, runAtMs, attempts, overrides, key, group, subject } = given;
  const queueOptions = optionsFor(queue);
  if (group !== undefined) requireGroups(queue, queueOptions, key);
  const { jobDefaults } = queueOptions;
  const headers = jobDefaults.headers ? { ...jobDefaults.headers, ...given.headers } : given.headers;
  const headerText = headers && encodeHeaders(queue, headers);
  const overrideText = overrides && JSON.stringify(overrides);
  const delayMs = options?.delay === undefined && runAtMs === null ? jobDefaults.delay || null : given.delayMs;
  if (overrides?.expiresInMs !== undefined && overrides.expiresInMs <= (delayMs ?? 0))
    throw expiryError(queue, options?.expiresIn);
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
  const encoding = encodePayload(queue, payload, queueOptions, name, due);
  return encoding instanceof Promise ? encoding.then(jobOf) : jobOf(encoding);
}

/** For a job that would expire before it is due. The options of the call have been checked, so the delay is a default. */
function expiryError(queue: string, expiresIn: unknown): InvalidOptionsError {
  const problem = expected(false, `expiresIn to be longer than jobDefaults.delay of queue "${queue}"`, expiresIn);
  return new InvalidOptionsError(`Cannot enqueue into "${queue}"`, [
    `${problem}; set delay beside it, or a longer expiresIn`,
  ]);
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
  if (kind === 'payload' && text.startsWith(ENVELOPE_PREFIX)) throw new PayloadInvalidError(queue, RESERVED);
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
  if (stored.startsWith(ENVELOPE_PREFIX)) throw undecodableWithoutCodec(stored, context);
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
