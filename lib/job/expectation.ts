import { didYouMean, formatValue, shorten } from '../common/message-text.js';
import { bullmqAdvice } from './bullmq-options.js';
import { InvalidOptionsError } from './errors.js';

export function expected(holds: boolean, what: string, value: unknown): string | undefined {
  return holds ? undefined : `expected ${what}, got ${formatValue(value)}`;
}

/** Callers without TypeScript may pass any value. */
export function isOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws InvalidOptionsError unless `given` is an object. Returns it. */
export function requireOptions<Options extends object>(
  where: string,
  given: Options,
  what = 'options to be an object',
): Options {
  if (isOptions(given)) return given;
  throw new InvalidOptionsError(where, [expected(false, what, given)!]);
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
