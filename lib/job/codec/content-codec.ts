import { systemClock, type Clock } from '../../common/clock.js';
import { andThen, isPromiseLike, type MaybePromise } from '../../common/maybe-promise.js';
import type { OutageLog } from '../../common/logger.js';
import { answerWithin } from '../../common/abort.js';
import { ContentUnavailableError, hasCode, UndecodableContentError, UnencodableContentError } from '../errors.js';
import { formatValue, messageOf } from '../../common/message-text.js';
import { innerOf, type Blobs } from './blobs.js';
import {
  isBlob,
  isEnvelope,
  readEnvelope,
  toEnvelope,
  type CodecContent,
  type CodecContext,
  type EncodeContext,
  type PayloadCodec,
} from './payload-codec.js';

// A codec without an answer would keep its job, and the slot of that, for ever.
const CALL_TIMEOUT_MS = 30_000;

/** The key of content that looks like an envelope itself and was not encoded otherwise. */
const PLAIN_KEY = 'plain';

/**
 * Applies the codecs of the module in order, then moves long texts into blobs; decodes in reverse. Returns promises only if
 * a codec does, or for a blob.
 */
export class ContentCodec {
  readonly #reversed: readonly PayloadCodec[];
  readonly #requires: boolean;

  /**
   * @param outage logs once while a service of a codec is down
   * @param blobs undefined: all content stays in its row
   * @param clock limits the time for an answer of a codec
   */
  constructor(
    private readonly codecs: readonly PayloadCodec[],
    private readonly outage?: Pick<OutageLog, 'onFailure' | 'onSuccess'>,
    readonly blobs?: Blobs,
    private readonly clock: Pick<Clock, 'sleep'> = systemClock,
  ) {
    this.#reversed = [...codecs].reverse();
    this.#requires = codecs.some(({ require }) => require === true);
  }

  /** Encodes in the same way, but without blobs: for content that has no expiry. */
  get inline(): ContentCodec {
    return this.blobs ? new ContentCodec(this.codecs, this.outage, undefined, this.clock) : this;
  }

  /** @throws UnencodableContentError or ContentUnavailableError, or rejects with it */
  encode(text: string, context: EncodeContext): MaybePromise<string> {
    // Otherwise the content of a caller could name an envelope of its own choice.
    const escaped = isEnvelope(text) ? toEnvelope({ key: PLAIN_KEY, content: text }) : text;
    const toError = (error: unknown) => encodeError(context.what, error);
    const encoded = this.#apply(this.codecs, escaped, (codec, previous) =>
      andThen(
        this.#guard(previous, () => this.#within(context, codec.encode(previous, context)), toError),
        (next) => {
          if (next === previous || (isEnvelope(next) && !isBlob(next))) return next;
          const problem = `expected the codec to return an envelope of toEnvelope(), got ${formatValue(next)}`;
          throw new UnencodableContentError(context.what, problem);
        },
      ),
    );
    const { blobs } = this;
    if (!blobs) return encoded;
    return andThen(encoded, (stored) => this.#guard(stored, () => blobs.encode(stored, context), toError));
  }

  /** @throws UndecodableContentError or ContentUnavailableError, or rejects with it */
  decode(stored: string, context: CodecContext): MaybePromise<string> {
    if (!isBlob(stored)) return this.#decodeInline(stored, context);
    const { blobs } = this;
    if (!blobs) throw undecodable(context.what, stored, NO_BLOBS);
    const read = this.#guard(
      stored,
      () => blobs.decode(stored),
      (error) => decodeError(context.what, stored, error),
    );
    return andThen(read, (text) => this.#decodeInline(text, context));
  }

  /** Whether the text is encoded as `encode` would encode it today. Short and long texts may stay where they are. */
  isCurrent(stored: string): boolean {
    const [last] = this.#reversed;
    if (!last) return true;
    return last.isCurrent?.(isBlob(stored) ? innerOf(stored) : stored) ?? false;
  }

  #decodeInline(stored: string, context: CodecContext): MaybePromise<string> {
    // An escaped text was encoded by no codec.
    if (this.#requires && context.what === 'payload' && (!isEnvelope(stored) || isEscaped(stored)))
      throw undecodable(context.what, stored, NO_ENVELOPE);
    if (!isEnvelope(stored)) return stored;
    const decoded = this.#apply(this.#reversed, stored, (codec, previous) => {
      if (!isEnvelope(previous) || isEscaped(previous)) return previous;
      return this.#guard(
        previous,
        () => this.#within(context, codec.decode(previous, context)),
        (error) => decodeError(context.what, previous, error),
      );
    });
    return andThen(decoded, (text) => unescapeContent(context.what, text));
  }

  #apply(
    codecs: readonly PayloadCodec[],
    text: string,
    step: (codec: PayloadCodec, previous: string) => MaybePromise<string>,
  ): MaybePromise<string> {
    let result: MaybePromise<string> = text;
    for (const codec of codecs) result = andThen(result, (previous) => step(codec, previous));
    return result;
  }

  #within({ what, timeoutMs }: EncodeContext, answer: MaybePromise<string>): MaybePromise<string> {
    if (!isPromiseLike(answer)) return answer;
    const ms = Math.min(timeoutMs || CALL_TIMEOUT_MS, CALL_TIMEOUT_MS);
    const late = () => new ContentUnavailableError(`The codec has not answered within ${ms} ms for a ${what}.`);
    return answerWithin(this.clock, ms, Promise.resolve(answer), late);
  }

  #guard(previous: string, act: () => MaybePromise<string>, toError: (error: unknown) => Error): MaybePromise<string> {
    try {
      const result = act();
      if (!(result instanceof Promise)) return result;
      return result.then(
        (text) => {
          // A text that stays as it is may have needed no service.
          if (text !== previous) this.outage?.onSuccess();
          return text;
        },
        (error: unknown) => this.#fail(toError(error)),
      );
    } catch (error) {
      return this.#fail(toError(error));
    }
  }

  #fail(error: Error): never {
    if (hasCode(error, 'CONTENT_UNAVAILABLE')) this.outage?.onFailure(error);
    throw error;
  }
}

const NO_BLOBS = 'it is in a blob store, and this process has none. Set the module option `blobs`';
const NO_ENVELOPE = 'expected an envelope, because a codec of this process has `require: true`, got plain content';

/** The error of an envelope that a process without codecs reads. */
export function undecodableWithoutCodec(stored: string, { what }: CodecContext): UndecodableContentError {
  if (isBlob(stored)) return undecodable(what, stored, NO_BLOBS);
  return undecodable(what, stored, 'this process has no codec. Set the module option `codec`');
}

function unescapeContent(what: CodecContent, text: string): string {
  if (!isEnvelope(text)) return text;
  const envelope = readEnvelope(text);
  if (envelope?.key === PLAIN_KEY) return envelope.content;
  throw undecodable(what, text, 'no codec of this process has made its envelope. Add that codec');
}

function isEscaped(text: string): boolean {
  return readEnvelope(text)?.key === PLAIN_KEY;
}

function undecodable(what: CodecContent, stored: string, problem: string, cause?: unknown): UndecodableContentError {
  const key = readEnvelope(stored)?.key ?? null;
  const place = key === null ? '' : ` (key ${formatValue(key)})`;
  return new UndecodableContentError(what, key, `${problem}${place}.`, { cause });
}

function decodeError(what: CodecContent, stored: string, error: unknown): Error {
  if (hasCode(error, 'CONTENT_UNAVAILABLE') || hasCode(error, 'UNDECODABLE_CONTENT')) return error as Error;
  return undecodable(what, stored, messageOf(error), error);
}

function encodeError(what: CodecContent, error: unknown): Error {
  if (hasCode(error, 'CONTENT_UNAVAILABLE')) return error as Error;
  return new UnencodableContentError(what, messageOf(error), { cause: error });
}
