import { closest, distance } from 'fastest-levenshtein';
import { bullmqAdvice } from './bullmq-options.js';

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

export function expected(holds: boolean, what: string, value: unknown): string | undefined {
  return holds ? undefined : `expected ${what}, got ${formatValue(value)}`;
}

/** `, did you mean "lease"?` if one of the known words is similar, else an empty text. */
export function didYouMean(word: string, known: readonly string[]): string {
  if (known.length === 0 || word.length > 100) return '';
  const nearest = closest(word, known);
  return distance(word, nearest) <= Math.max(2, Math.floor(nearest.length / 3)) ? `, did you mean "${nearest}"?` : '';
}

export function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** Callers without TypeScript may pass any value. */
export function isOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function shorten(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}

export function unknownKeys(given: unknown, known: readonly string[]): string[] {
  if (!isOptions(given)) return [expected(false, `options (known: ${known.join(', ')})`, given)!];
  return Object.keys(given)
    .filter((key) => !known.includes(key))
    .map((key) => `unknown option "${shorten(key)}"${suggestionFor(key, known)}`);
}

function suggestionFor(key: string, known: readonly string[]): string {
  const advice = bullmqAdvice(key);
  return advice === undefined ? didYouMean(key, known) || ` (known: ${known.join(', ')})` : `: ${advice}`;
}

/** `a, b or c`. */
export function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
