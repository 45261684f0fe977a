import { Histogram } from '../../lib/job/histogram.js';

function histogramOf(...durations: number[]): Histogram {
  const histogram = new Histogram();
  for (const ms of durations) histogram.add(ms);
  return histogram;
}

describe('a histogram', () => {
  it.each([0.4, 1, 3, 17, 250, 999, 60_000, 3_600_000, 86_400_000])('knows %d ms to a fifth', (ms) => {
    const median = histogramOf(...Array.from({ length: 100 }, () => ms)).quantile(0.5)!;

    expect(Math.abs(median - ms)).toBeLessThanOrEqual(Math.max(1, ms / 5));
  });

  it('has the percentiles of many durations', () => {
    const histogram = histogramOf(...Array.from({ length: 10_000 }, (_, index) => index / 10));

    for (const share of [0.5, 0.95, 0.99]) {
      const exact = share * 1_000;
      expect(Math.abs(histogram.quantile(share)! - exact)).toBeLessThanOrEqual(exact / 5);
    }
  });

  it('has no percentiles without durations', () => {
    expect(new Histogram().quantile(0.5)).toBeNull();
  });

  it('keeps durations of months in its last range', () => {
    expect(histogramOf(90 * 86_400_000).quantile(0.5)).toBeGreaterThan(24 * 86_400_000);
  });

  it('returns from its counts, and adds up with another', () => {
    const sum = Histogram.from(JSON.parse(JSON.stringify(histogramOf(1, 50).counts)));

    sum.addAll(histogramOf(50, 5_000));

    expect(sum.counts).toEqual(histogramOf(1, 50, 50, 5_000).counts);
  });

  it.each([
    ['a text', '[1]'],
    ['null', null],
    ['negative counts', [-1]],
    ['fractions', [0.5]],
    ['too many', Array.from({ length: 65 }, () => 1)],
  ])('is empty if its counts are %s', (_, counts) => {
    expect(Histogram.from(counts).counts).toEqual([]);
  });
});
