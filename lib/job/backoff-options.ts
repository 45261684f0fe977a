import type { Duration } from '../common/units.js';
import { duration, group, kind, oneOf, option, type SchemaOf } from './option-schema.js';

/** How long a failed job waits before its next attempt. Without functions, so that the row of a job can store it. */
export interface BackoffOptions {
  /** `fixed`: always `delay`. `exponential`: `delay`, 2 × `delay`, 4 × `delay` … Default `exponential`. */
  type?: 'fixed' | 'exponential';
  /** The delay before the second attempt. Default 1s. */
  delay?: Duration;
  /** The upper limit of an exponential delay. Default 10m. */
  max?: Duration;
  /**
   * A share of the delay, 0 to 1, by which a random number lengthens or shortens it. It spreads the retries of jobs
   * that failed together. Default 0.2 for an exponential backoff, 0 for a fixed one.
   */
  jitter?: number;
}

export const BACKOFF_FIELDS = group(
  {
    type: option(oneOf('fixed', 'exponential'), 'exponential'),
    delay: option(duration, '1s'),
    max: option(duration, '10m'),
    jitter: option(kind('0 to 1', isShare)),
  } satisfies SchemaOf<BackoffOptions>,
  'backoff.',
);

/** @param random returns numbers from 0 to below 1 */
export function delayOf(options: BackoffOptions, attempt: number, random: () => number): number {
  const { type, delay, max, jitter = type === 'fixed' ? 0 : 0.2 } = BACKOFF_FIELDS.resolve(options);
  const spread = 1 + jitter * (2 * random() - 1);
  if (type === 'fixed') return Math.round(delay * spread);
  return Math.round(Math.min(max, delay * 2 ** Math.min(attempt - 1, 50) * spread));
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}
