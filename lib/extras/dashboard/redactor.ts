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

// A name before a value in a text, as in `password=…`, `"token": "…"` or `Authorization: Bearer …`, also if the text is JSON
// in JSON. All parts are bounded, so that no text takes longer than its length.
const NAME = /(?<![\w.-])([\w.-]{1,64})(?:\\{0,15}["'])?\s{0,4}[:=]\s{0,4}/g;
const OPENING_QUOTE = /(\\{0,15})(["'])/y;
const PLAIN_VALUE = /(?:(?:Bearer|Basic) )?[^\s,;&"'}\])]+/iy;
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
  const names = new RegExp(NAME);
  let [hidden, from] = ['', 0];
  for (let match = names.exec(text); match; match = names.exec(text)) {
    const valueAt = names.lastIndex;
    // The value of another key may have a pair in it, as in `Error: refused: token=…`.
    const end = isSecret(match[1]!) ? endOfValue(text, valueAt) : valueAt;
    if (end === valueAt) continue;
    hidden += text.slice(from, valueAt) + MASK;
    from = names.lastIndex = end;
  }
  return hidden + text.slice(from);
}

/** The end of the text if the value is cut. `at` if there is none. */
function endOfValue(text: string, at: number): number {
  const quote = matchAt(OPENING_QUOTE, text, at);
  if (!quote) return at + (matchAt(PLAIN_VALUE, text, at)?.[0].length ?? 0);
  const [, { length: depth } = '', mark = ''] = quote;
  for (let end = text.indexOf(mark, at + depth + 1); end >= 0; end = text.indexOf(mark, end + 1)) {
    let escapes = end;
    while (text[escapes - 1] === '\\') escapes--;
    // A quote in the value has more backslashes than those around it, and each backslash of the value is written as an
    // even number of them.
    if ((end - escapes - depth) % (2 * (depth + 1)) === 0) return end + 1;
  }
  return text.length;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function textOf(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? 'null';
}
