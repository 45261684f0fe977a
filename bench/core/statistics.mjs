/** The value at a share of the sorted list; the list itself need not be sorted. */
export function percentile(values, share) {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

export function median(values) {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The summary of a list of latencies in milliseconds. */
export function latencies(values) {
  return { samples: values.length, p50: percentile(values, 0.5), p99: percentile(values, 0.99) };
}
