// Median and spread, for scripts that measure.

/** @param values at least one number */
export function describeQuartiles(values, digits = 2) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.round((sorted.length - 1) * share)].toFixed(digits);
  return `median ${at(0.5)}, quartiles ${at(0.25)} to ${at(0.75)}, of ${sorted.length}`;
}
