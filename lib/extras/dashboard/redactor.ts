import { jsonOf } from '../../common/message-text.js';

/** The place of a value that the board is about to show. */
export interface RedactContext {
  queue: string;
  /** The name of the job; empty for an entry of the audit. */
  name: string;
  what: 'payload' | 'headers' | 'result' | 'progress' | 'error' | 'log' | 'audit';
}

/**
 * Patterns for the keys whose values are hidden, or a function that returns the value to show. An error is an object with
 * `name`, `message`, `code` and `stack`; a log line is a string.
 */
export type Redact = RegExp | readonly RegExp[] | ((value: unknown, context: RedactContext) => unknown);

/** A value as JSON text for the page. */
export interface ShownValue {
  text: string;
  /** The size of the whole text. */
  bytes: number;
  isCut: boolean;
  isRedacted: boolean;
}

export const MASK = '••••';

const DEFAULT_PATTERN = /pass|secret|token|authorization|card|iban/i;
const MAX_TEXT_BYTES = 16_384;
const MAX_STRING = 40_000;

// Names with a value in a text, as in `password=…`, `"token": "…"` or `Authorization: Bearer …`. All parts are bounded, so
// that no text takes longer than its length.
const PAIR =
  /(?<![\w.-])([\w.-]{1,64})(\\?["']?\s{0,4}[:=]\s{0,4})("[^"]{0,2000}"|'[^']{0,2000}'|(?:(?:Bearer|Basic) )?[^\s,;&"'}\])]{1,2000})/gi;
const URL_PASSWORD = /(\/\/[^\s:@/]{0,100}:)[^\s@/]{1,200}@/g;

/** Hides secrets in values before they leave the server. */
export class Redactor {
  readonly #redact: (value: unknown, context: RedactContext) => unknown;

  constructor(rule: Redact = DEFAULT_PATTERN) {
    if (typeof rule === 'function') {
      this.#redact = rule;
      return;
    }
    // A pattern with the flag g or y would remember its last match.
    const patterns = [rule].flat().map(({ source, flags }) => new RegExp(source, flags.replace(/[gy]/g, '')));
    const isSecret = (key: string) => patterns.some((pattern) => pattern.test(key));
    this.#redact = (value) => hideSecrets(value, isSecret);
  }

  /** Never throws: if the rule throws, all of the value is hidden. */
  redact<Value>(value: Value, context: RedactContext): Value | typeof MASK {
    try {
      return this.#redact(value, context) as Value;
    } catch {
      return MASK;
    }
  }

  /** The text to show: redacted, and cut at 16 kB. */
  show(value: unknown, context: RedactContext): ShownValue {
    const redacted = this.redact(value, context);
    const text = textOf(redacted);
    const bytes = Buffer.byteLength(text);
    const isCut = bytes > MAX_TEXT_BYTES;
    return {
      text: isCut ? cutAt(text, MAX_TEXT_BYTES) : text,
      bytes,
      isCut,
      isRedacted: redacted !== value && text !== textOf(value),
    };
  }
}

/** Whether a new value still has a mask in place of a hidden one. */
export function hasMask(value: unknown): boolean {
  return jsonOf(value).includes(MASK);
}

/** The text in at most this many bytes. */
export function cutAt(text: string, bytes: number): string {
  // A character that is cut in two becomes a replacement character.
  return Buffer.from(text)
    .subarray(0, bytes)
    .toString()
    .replace(/\ufffd$/, '');
}

function hideSecrets(value: unknown, isSecret: (key: string) => boolean): unknown {
  if (typeof value === 'string') return hideInText(value, isSecret);
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, isSecret));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, isSecret(key) ? MASK : hideSecrets(item, isSecret)]),
  );
}

function hideInText(text: string, isSecret: (key: string) => boolean): string {
  return hidePairs(text.slice(0, MAX_STRING), isSecret).replace(URL_PASSWORD, `$1${MASK}@`);
}

function hidePairs(text: string, isSecret: (key: string) => boolean): string {
  const pairs = new RegExp(PAIR);
  let [hidden, from] = ['', 0];
  for (let match = pairs.exec(text); match; match = pairs.exec(text)) {
    const valueAt = match.index + match[1]!.length + match[2]!.length;
    // The value of another key may have a pair in it, as in `Error: refused: token=…`.
    if (!isSecret(match[1]!)) {
      pairs.lastIndex = valueAt;
      continue;
    }
    hidden += text.slice(from, valueAt) + MASK;
    from = pairs.lastIndex;
  }
  return hidden + text.slice(from);
}

function textOf(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? 'null';
}
