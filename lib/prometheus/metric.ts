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

export class Counter extends OwnMetric {
  readonly type = 'counter';
  readonly #series = new Map<string, { labels: Labels; value: number }>();

  /** With 0 it makes the series visible, so that a rate includes its first increment. */
  add(labels: Labels, value: number): void {
    const key = Object.values(labels).join('\0');
    const series = this.#series.get(key);
    if (series) series.value += value;
    else this.#series.set(key, { labels, value });
  }

  reset(): void {
    this.#series.clear();
  }

  protected samples(): readonly Sample[] {
    return [...this.#series.values()];
  }
}

interface Distribution {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
  count: number;
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

  observe(labels: Labels, value: number): void {
    const key = Object.values(labels).join('\0');
    let series = this.#series.get(key);
    if (!series) this.#series.set(key, (series = { labels, counts: this.bounds.map(() => 0), sum: 0, count: 0 }));
    const bucket = this.bounds.findIndex((bound) => value <= bound);
    if (bucket !== -1) series.counts[bucket]!++;
    series.sum += value;
    series.count++;
  }

  reset(): void {
    this.#series.clear();
  }

  protected samples(): readonly Sample[] {
    return [...this.#series.values()].flatMap((series) => this.#samplesOf(series));
  }

  #samplesOf({ labels, counts, sum, count }: Distribution): Sample[] {
    let below = 0;
    const bucket = (le: string, value: number) => ({
      metricName: `${this.name}_bucket`,
      labels: { ...labels, le },
      value,
    });
    return [
      ...this.bounds.map((bound, index) => bucket(String(bound), (below += counts[index]!))),
      bucket('+Inf', count),
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
