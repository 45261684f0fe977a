import { Registry } from 'prom-client';
import { Counter, Histogram } from '../../lib/extras/prometheus/metric.js';

describe('a histogram', () => {
  it('counts a value in each bucket whose bound it does not exceed', async () => {
    const registry = new Registry();
    const histogram = new Histogram('took_seconds', 'Times', [1, 2]);
    histogram.register(registry);

    for (const value of [1, 1.5, 2, 3]) histogram.seriesOf({ queue: 'q' }).observe(value);

    const lines = (await registry.metrics()).split('\n');
    expect(lines.filter((line) => line.startsWith('took'))).toEqual([
      'took_seconds_bucket{queue="q",le="1"} 1',
      'took_seconds_bucket{queue="q",le="2"} 3',
      'took_seconds_bucket{queue="q",le="+Inf"} 4',
      'took_seconds_sum{queue="q"} 7.5',
      'took_seconds_count{queue="q"} 4',
    ]);
  });
});

describe('a registry that was reset', () => {
  it('counts from 0 on in the series that callers keep', async () => {
    const registry = new Registry();
    const [counter, histogram] = [new Counter('runs_total', 'Runs'), new Histogram('took_seconds', 'Times', [1])];
    for (const metric of [counter, histogram]) metric.register(registry);
    const [runs, times] = [counter.seriesOf({ queue: 'q' }), histogram.seriesOf({ queue: 'q' })];
    runs.value += 5;
    times.observe(5);

    registry.resetMetrics();
    runs.value++;
    times.observe(1);

    const text = await registry.metrics();
    expect(text).toContain('runs_total{queue="q"} 1\n');
    expect(text).toContain('took_seconds_sum{queue="q"} 1\n');
    expect(text).toContain('took_seconds_bucket{queue="q",le="+Inf"} 1\n');
  });
});
