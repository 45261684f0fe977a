import { matchesAny } from '../../job/queue-pattern.js';

// Names can come from data, such as temporary queues of sessions. Each series costs memory here and in Prometheus.
const MAX_VALUES = 1_000;
export const OTHER = '(other)';

/** Bounds the values of a label: later ones count together as `(other)`. */
export class SeriesLimit {
  readonly #known = new Set<string>();

  /** @param patterns the values with metrics; undefined: all */
  constructor(private readonly patterns?: readonly string[] | undefined) {}

  /** Undefined: the value has no metrics. */
  labelOf(value: string): string | undefined {
    if (this.#known.has(value)) return value;
    if (this.patterns && !matchesAny(this.patterns, value)) return undefined;
    if (this.#known.size >= MAX_VALUES) return OTHER;
    this.#known.add(value);
    return value;
  }
}
