import { closest, distance } from 'fastest-levenshtein';
import { foreignHint } from './foreign-options.js';

/** A value as a message shows it: short, and never failing. */
export function seen(value: unknown): string {
  if (typeof value === 'function') return `a function`;
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Date) return `Date(${Number.isNaN(value.getTime()) ? 'invalid' : value.toISOString()})`;
  const text = typeof value === 'number' ? String(value) : jsonOf(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** The problem as one line, or undefined where the condition holds. */
export function expected(holds: boolean, what: string, value: unknown): string | undefined {
  return holds ? undefined : `expected ${what}, got ${seen(value)}`;
}

/** `, did you mean "lease"?` where one of the known words is close, else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  if (known.length === 0 || word.length > 100) return '';
  const nearest = closest(word, known);
  return distance(word, nearest) <= Math.max(2, Math.floor(nearest.length / 3)) ? `, did you mean "${nearest}"?` : '';
}

/** Whether it is a whole number from `least` to `most`. */
export function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** Whether options can be read from it: what callers pass may be anything. */
export function isOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name that nobody has checked, as a message shows it. */
export function short(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}

/** One line for each key that is not among the known ones, or where these are no options at all. */
export function unknownKeys(given: unknown, known: readonly string[]): string[] {
  if (!isOptions(given)) return [expected(false, `options (known: ${known.join(', ')})`, given)!];
  return Object.keys(given)
    .filter((key) => !known.includes(key))
    .map((key) => `unknown option "${short(key)}"${wayOut(key, known)}`);
}

function wayOut(key: string, known: readonly string[]): string {
  const hint = foreignHint(key);
  return hint === undefined ? didYouMean(key, known) || ` (known: ${known.join(', ')})` : `: ${hint}`;
}
