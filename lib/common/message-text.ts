import { closest, distance } from 'fastest-levenshtein';

/** Never throws. */
export function formatValue(value: unknown): string {
  if (typeof value === 'function') return `a function`;
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Date) return `Date(${Number.isNaN(value.getTime()) ? 'invalid' : value.toISOString()})`;
  return shorten(typeof value === 'number' ? String(value) : jsonOf(value));
}

/** The value as JSON if possible, for a message. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** The message of a thrown value, which need not be an Error. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    // Errors of another realm (a vm context, as in Jest) fail instanceof.
    const message = (thrown as { message?: unknown } | null | undefined)?.message;
    if (typeof message === 'string') return message;
    return typeof thrown === 'string' ? thrown : formatValue(thrown);
  } catch {
    return 'an error that cannot be read';
  }
}

export function shorten(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}

/** `, did you mean "lease"?` if one of the known words is similar, else an empty text. */
export function didYouMean(word: string, known: readonly string[]): string {
  if (known.length === 0 || word.length > 100) return '';
  const nearest = closest(word, known);
  return distance(word, nearest) <= Math.max(2, Math.floor(nearest.length / 3)) ? `, did you mean "${nearest}"?` : '';
}

/** `a, b or c`. */
export function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
