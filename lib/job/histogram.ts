import { isWhole } from './identifiers.js';

const BINS = 64;

/**
 * Counts durations in ranges. The first range ends at 1 ms, and each later one is 1.41 times as long as the one before, so
 * a percentile is at most a fifth off. The last one begins at 25 days.
 */
export class Histogram {
  readonly #counts: number[] = Array.from({ length: BINS }, () => 0);

  /** @param counts as `counts` has returned them. Anything else counts as empty. */
  static from(counts: unknown): Histogram {
    const histogram = new Histogram();
    if (Array.isArray(counts) && counts.length <= BINS && counts.every((count) => isWhole(count, 0, 2 ** 48)))
      counts.forEach((count: number, bin) => (histogram.#counts[bin] = count));
    return histogram;
  }

  add(ms: number): void {
    this.#counts[binOf(ms)]!++;
  }

  addAll(other: Histogram): void {
    other.#counts.forEach((count, bin) => (this.#counts[bin]! += count));
  }

  /** The durations that were added since the histogram was like the earlier one. */
  without(earlier: Histogram): Histogram {
    return Histogram.from(this.#counts.map((count, bin) => count - earlier.#counts[bin]!));
  }

  /** Without the empty ranges at the end. */
  get counts(): readonly number[] {
    let length = BINS;
    while (length > 0 && this.#counts[length - 1] === 0) length--;
    return this.#counts.slice(0, length);
  }

  /** The duration in whole milliseconds that this share of the durations does not exceed; null without durations. */
  quantile(share: number): number | null {
    const rank = share * this.#counts.reduce((sum, count) => sum + count, 0);
    let below = 0;
    for (const [bin, count] of this.#counts.entries()) {
      if (count > 0 && below + count >= rank) {
        const start = startOf(bin);
        return Math.round(start + ((startOf(bin + 1) - start) * (rank - below)) / count);
      }
      below += count;
    }
    return null;
  }
}

function binOf(ms: number): number {
  return ms < 1 ? 0 : Math.min(BINS - 1, 1 + Math.floor(2 * Math.log2(ms)));
}

function startOf(bin: number): number {
  return bin === 0 ? 0 : 2 ** ((bin - 1) / 2);
}
