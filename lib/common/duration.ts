import { toUnits } from './units.js';

/** Milliseconds as a number, or a number with a unit: `'500ms'`, `'30s'`, `'5m'`, `'2h'`, `'7d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const DURATION_EXPECTED = `a duration (milliseconds of 0 or more, or a string such as '500ms', '30s', '5m', '2h', '1d')`;

// A century. Added to the present time, it stays far below 2^53, so no date overflows.
const MAX_DURATION_MS = 100 * 365 * UNIT_MS.d;

/** Whole milliseconds; undefined if the value is no duration. */
export function toMs(value: unknown): number | undefined {
  return toUnits(value, UNIT_MS, MAX_DURATION_MS);
}
