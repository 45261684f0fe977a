import type { MaybePromise } from '../../common/maybe-promise.js';

/** The kinds of content that a codec encodes. An error is its message and its stack, each on its own. */
export type CodecContent = 'payload' | 'result' | 'error' | 'progress' | 'log' | 'step' | 'signal';

/** The content and the job that it belongs to. */
export interface CodecContext {
  readonly what: CodecContent;
  /**
   * The queue of the job at present; undefined if the library does not know it. A replay and a dead letter move content to
   * other queues, so the encoded text must not depend on the queue.
   */
  readonly queue?: string | undefined;
  /** The name of the job; undefined if the library does not know it. */
  readonly name?: string | undefined;
}

/** The context of `encode`, with the time from which on the job needs the content. */
export interface EncodeContext extends CodecContext {
  readonly delayMs?: number | null | undefined;
  readonly runAtMs?: number | null | undefined;
  /** The timeout of the job: codecs and the blob store must answer within it. */
  readonly timeoutMs?: number | false | undefined;
}

/**
 * Encodes the content of jobs before it is stored, and decodes it after it was read. Every process that enqueues, works or
 * reads jobs needs the same codecs.
 */
export interface PayloadCodec {
  /**
   * Returns an envelope: see `toEnvelope`. Returns the text itself if this codec leaves it as it is, for example because it
   * is short. An exception rejects the call that stores the content.
   */
  encode(text: string, context: CodecContext): MaybePromise<string>;
  /**
   * Receives an envelope, and returns the text that was encoded. Returns the envelope itself if another codec has made it.
   * An exception means that the content is lost for this process: the job is dead, and its payload stays as it is. Throw
   * ContentUnavailableError if a later try can succeed.
   */
  decode(stored: string, context: CodecContext): MaybePromise<string>;
  /**
   * Whether payloads without an envelope are refused: other programs that insert jobs must encode them too. Default false.
   */
  readonly require?: boolean;
  /**
   * Whether `encode` would encode the text in the same way today, so that `rekey` skips it. The last codec of a list decides.
   * Default: never, so that each call of `rekey` encodes all content. The text is an envelope without its content if the
   * content is in a blob.
   */
  isCurrent?(stored: string): boolean;
}

/** The content that a codec has encoded, as its column stores it. */
export interface Envelope {
  /** The codec and its key, 1 to 100 characters. */
  readonly key: string;
  readonly content: string;
}

/** Only the text of an envelope begins so: a payload may not. */
export const ENVELOPE_PREFIX = '{"$sql-queue":1,';

/** The text of an envelope: `{"$sql-queue":1,"k":key,"d":content}`. */
export function toEnvelope({ key, content }: Envelope): string {
  return `${ENVELOPE_PREFIX}"k":${JSON.stringify(key)},"d":${JSON.stringify(content)}}`;
}

export function isEnvelope(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(ENVELOPE_PREFIX);
}

/** The key of references to blobs. */
export const BLOB_KEY = '$blob';

/** The beginning of a reference to a blob. */
export const BLOB_PREFIX = `${ENVELOPE_PREFIX}"k":"${BLOB_KEY}",`;

export function isBlob(stored: string): boolean {
  return stored.startsWith(BLOB_PREFIX);
}

/** Undefined if the text is no envelope, or a damaged one. */
export function readEnvelope(text: string): Envelope | undefined {
  if (!isEnvelope(text)) return undefined;
  try {
    const { k: key, d: content } = JSON.parse(text) as { k?: unknown; d?: unknown };
    return typeof key === 'string' && typeof content === 'string' ? { key, content } : undefined;
  } catch {
    return undefined;
  }
}

/** The envelope of a column that was parsed as JSON; undefined for any other value. */
export function envelopeOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('$sql-queue' in value)) return undefined;
  const text = JSON.stringify(value);
  return isEnvelope(text) ? text : undefined;
}
