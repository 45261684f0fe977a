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

/** Bounds the queues of a reading that have series. Others have none: a sum of their gauges means nothing. */
export class ReadingLimit {
  #shown: ReadonlySet<string> = new Set();

  /** @param patterns the queues with metrics; undefined: all */
  constructor(private readonly patterns: readonly string[] | undefined) {}

  /** Queues that are gone make room for new ones. New ones never displace a queue of the reading before. */
  choose<Queue extends { readonly queue: string }>(reading: readonly Queue[]): Queue[] {
    const { patterns } = this;
    const measured = reading.filter(({ queue }) => !patterns || matchesAny(patterns, queue));
    const wasShown = ({ queue }: Queue) => this.#shown.has(queue);
    const ordered = [...measured.filter(wasShown), ...measured.filter((one) => !wasShown(one))];
    const chosen = ordered.slice(0, MAX_VALUES);
    this.#shown = new Set(chosen.map(({ queue }) => queue));
    return chosen;
  }
}
