import type { OutageLog } from '../../common/outage-log.js';
import { hasCode, UndecodableContentError, UnencodableContentError } from '../errors.js';
import { formatValue } from '../expectation.js';
import { andThen, type MaybePromise } from '../user-rule.js';
import {
  isEnvelope,
  readEnvelope,
  toEnvelope,
  type CodecContent,
  type CodecContext,
  type PayloadCodec,
} from './payload-codec.js';

/** The key of content that looks like an envelope itself and was not encoded otherwise. */
const PLAIN_KEY = 'plain';

/** Applies the codecs of the module in order, and decodes in reverse. Returns promises only if a codec does. */
export class ContentCodec {
  readonly #codecs: readonly PayloadCodec[];
  readonly #reversed: readonly PayloadCodec[];
  readonly #requires: boolean;

  /** @param outage logs once while a service of a codec is down */
  constructor(
    codecs: readonly PayloadCodec[],
    private readonly outage?: Pick<OutageLog, 'onFailure' | 'onSuccess'>,
  ) {
    this.#codecs = codecs;
    this.#reversed = [...codecs].reverse();
    this.#requires = codecs.some(({ require }) => require === true);
  }

  /** @throws UnencodableContentError or ContentUnavailableError, or rejects with it */
  encode(text: string, context: CodecContext): MaybePromise<string> {
    // Otherwise the content of a caller could name an envelope of its own choice.
    const escaped = isEnvelope(text) ? toEnvelope({ key: PLAIN_KEY, content: text }) : text;
    return this.#apply(this.#codecs, escaped, (codec, previous) =>
      andThen(
        this.#guard(
          () => codec.encode(previous, context),
          (error) => encodeError(context.what, error),
        ),
        (next) => {
          if (next === previous || isEnvelope(next)) return next;
          const problem = `expected the codec to return an envelope of toEnvelope(), got ${formatValue(next)}`;
          throw new UnencodableContentError(context.what, problem);
        },
      ),
    );
  }

  /** @throws UndecodableContentError or ContentUnavailableError, or rejects with it */
  decode(stored: string, context: CodecContext): MaybePromise<string> {
    // An escaped text was encoded by no codec.
    if (this.#requires && context.what === 'payload' && (!isEnvelope(stored) || isEscaped(stored)))
      throw undecodable(context.what, stored, NO_ENVELOPE);
    if (!isEnvelope(stored)) return stored;
    const decoded = this.#apply(this.#reversed, stored, (codec, previous) => {
      if (!isEnvelope(previous) || isEscaped(previous)) return previous;
      return this.#guard(
        () => codec.decode(previous, context),
        (error) => decodeError(context.what, previous, error),
      );
    });
    return andThen(decoded, (text) => unescapeContent(context.what, text));
  }

  /** Whether the text is encoded as `encode` would encode it today. */
  isCurrent(stored: string): boolean {
    return this.#reversed[0]?.isCurrent?.(stored) ?? false;
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

  #guard(act: () => MaybePromise<string>, toError: (error: unknown) => Error): MaybePromise<string> {
    try {
      const result = act();
      if (!(result instanceof Promise)) return result;
      return result.then(
        (text) => {
          this.outage?.onSuccess();
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

const NO_ENVELOPE = 'expected an envelope, because a codec of this process has `require: true`, got plain content';

/** The content of a process without codecs. A handler must not receive an envelope as its payload. */
export function decodeWith(
  codec: ContentCodec | undefined,
  stored: string,
  context: CodecContext,
): MaybePromise<string> {
  if (codec) return codec.decode(stored, context);
  if (!isEnvelope(stored)) return stored;
  throw undecodable(context.what, stored, `this process has no codec. Set the module option \`codec\``);
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : formatValue(error);
}
