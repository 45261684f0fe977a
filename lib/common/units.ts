/** A whole number of the smallest unit, from a number or a text such as `'1.5h'`; undefined for any other value. */
function toUnits(value: unknown, units: Readonly<Record<string, number>>, max: number): number | undefined {
  const amount = typeof value === 'string' ? parse(value, units) : value;
  return typeof amount === 'number' && amount >= 0 && amount <= max ? Math.round(amount) : undefined;
}

function parse(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([a-z]+)$/.exec(text) ?? [];
  return amount !== undefined && Object.hasOwn(units, unit) ? Number(amount) * units[unit]! : undefined;
}

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

/** Bytes as a number, or a number with a unit of 1,024: `'512b'`, `'4kb'`, `'1mb'`. */
export type ByteSize = number | `${number}${'b' | 'kb' | 'mb'}`;

const UNIT_BYTES = { b: 1, kb: 1_024, mb: 1_048_576 } as const;

export const BYTE_SIZE_EXPECTED = `a size (bytes of 0 or more, or a string such as '512b', '4kb', '1mb')`;

/** Whole bytes; undefined if the value is no size. */
export function toBytes(value: unknown): number | undefined {
  return toUnits(value, UNIT_BYTES, 2 ** 40);
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A duration with its largest unit, as in `3h`; empty for null. */
export function age(ms: number | null): string {
  if (ms === null) return '';
  const [unit, length] = UNITS.find(([, unitMs]) => ms >= unitMs) ?? ['ms', 1];
  return `${Math.floor(ms / length)}${unit}`;
}
