import type { Metric, Registry } from 'prom-client';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly metricName?: string;
  readonly labels: Labels;
  readonly value: number;
}

/**
 * A metric as a Registry of prom-client reads it. The library has classes of its own, so that it needs no prom-client at run
 * time and decides the series.
 */
export abstract class OwnMetric {
  abstract readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator = 'sum';

  /** @param name a Registry changes it for OpenMetrics */
  constructor(
    public name: string,
    readonly help: string,
  ) {}

  /** Called by each scrape. Never rejects, because that would fail the scrape. */
  async get() {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: await this.samples() };
  }

  abstract reset(): void;

  register(registry: Pick<Registry, 'registerMetric'>): void {
    registry.registerMetric(this as unknown as Metric);
  }

  protected abstract samples(): readonly Sample[] | Promise<readonly Sample[]>;
}

/** A gauge whose values are read at scrape time. */
export class ReadGauge extends OwnMetric {
  readonly type = 'gauge';

  constructor(
    name: string,
    help: string,
    private readonly read: () => readonly Sample[] | Promise<readonly Sample[]>,
  ) {
    super(name, help);
  }

  reset(): void {}

  protected samples(): readonly Sample[] | Promise<readonly Sample[]> {
    return this.read();
  }
}

/** A series that the caller may keep, because a lookup per job would cost more than the count. */
interface Count {
  readonly labels: Labels;
  value: number;
}

export class Counter extends OwnMetric {
  readonly type = 'counter';
  readonly #series = new Map<string, Count>();

  /** Makes the series visible, so that a rate includes its first increment. */
  seriesOf(labels: Labels): Count {
    const key = Object.values(labels).join('\0');
    let series = this.#series.get(key);
    if (!series) this.#series.set(key, (series = { labels, value: 0 }));
    return series;
  }

  reset(): void {
    for (const series of this.#series.values()) series.value = 0;
  }

  protected samples(): readonly Sample[] {
    return [...this.#series.values()].map(({ labels, value }) => ({ labels, value }));
  }
}

export class Histogram extends OwnMetric {
  readonly type = 'histogram';
  readonly #series = new Map<string, Distribution>();

  /** @param bounds the upper bounds of the buckets, ascending */
  constructor(
    name: string,
    help: string,
    private readonly bounds: readonly number[],
  ) {
    super(name, help);
  }

  seriesOf(labels: Labels): Distribution {
    const key = Object.values(labels).join('\0');
    let series = this.#series.get(key);
    if (!series) this.#series.set(key, (series = new Distribution(labels, this.bounds)));
    return series;
  }

  reset(): void {
    for (const series of this.#series.values()) series.reset();
  }

  protected samples(): readonly Sample[] {
    return [...this.#series.values()].flatMap((series) => series.samplesOf(this.name));
  }
}

/** A series that the caller may keep. */
class Distribution {
  /** By bucket; the last one has the values above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(
    private readonly labels: Labels,
    private readonly bounds: readonly number[],
  ) {
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#sum += value;
  }

  reset(): void {
    this.#counts.fill(0);
    this.#sum = 0;
  }

  samplesOf(name: string): Sample[] {
    const { labels } = this;
    let count = 0;
    const buckets = [...this.bounds.map(String), '+Inf'].map((le, index) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le },
      value: (count += this.#counts[index]!),
    }));
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
