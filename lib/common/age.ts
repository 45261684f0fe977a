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
