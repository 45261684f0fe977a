import { Histogram } from '../../lib/job/histogram.js';
import {
  MAX_ERRORS,
  type ErrorsRow,
  type MetricsRow,
  type MetricsStore,
} from '../../lib/store/features/metrics/metrics-store.js';

/** The attempts of a minute in one process. */
export function metricsRow(
  given: Partial<Omit<MetricsRow, 'waits' | 'runs'>> & { waits?: number[]; runs?: number[] } = {},
) {
  const { waits = [], runs = [], ...more } = given;
  const counts = { completed: 0, failed: 0, dead: 0, cancelled: 0 };
  const key = { queue: 'q', stepMs: 0, startsAtMs: 0, recorder: 1 };
  const row: MetricsRow = { ...key, ...counts, ...more, waits: histogramOf(waits), runs: histogramOf(runs) };
  return row;
}

/** The failed attempts of a minute in one process with one error. */
export function errorsRow(given: Partial<ErrorsRow> = {}): ErrorsRow {
  const { startsAtMs = 0 } = given;
  const key = { queue: 'q', stepMs: 0, startsAtMs, recorder: 1, error: 'E1' };
  return { ...key, ...{ failed: 1, dead: 0, firstAtMs: startsAtMs, lastAtMs: startsAtMs, jobId: 1 }, ...given };
}

function histogramOf(durations: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const ms of durations) histogram.add(ms);
  return histogram;
}

/** Saves, reads and folds rows of single processes, minutes, hours and days. */
export async function everyMetricsVerb(metrics: MetricsStore, advance: (ms: number) => void): Promise<void> {
  const startsAtMs = (await metrics.readTime()) - 60_000;
  for (const recorders of [1, 30]) {
    await metrics.save(
      Array.from({ length: recorders }, (_, index) => metricsRow({ startsAtMs, recorder: index + 1, completed: 1 })),
    );
    for (const fromMs of [null, 0]) await metrics.read(['q'], { fromMs, toMs: null, stepMs: 60_000 });
    await metrics.fold(1_000);
  }
  for (const ms of [660_000, 90_000_000, 32 * 86_400_000, 366 * 86_400_000]) {
    advance(ms);
    const at = startsAtMs + ms - 900_000;
    await metrics.save([metricsRow({ startsAtMs: at })], [errorsRow({ startsAtMs: at })]);
    await metrics.fold(1_000);
  }
  // More errors than a sum may have, beside those that it has.
  const manyAt = startsAtMs + 366 * 86_400_000 - 900_000;
  const many = Array.from({ length: MAX_ERRORS + 5 }, (_, n) =>
    errorsRow({ startsAtMs: manyAt, error: `E${n + 2}`, failed: 2 }),
  );
  await metrics.save([metricsRow({ startsAtMs: manyAt })], many);
  await metrics.fold(1_000);
  for (const queue of ['q', null])
    for (const fromMs of [null, 0])
      for (const step of ['minute', 'hour', 'day'] as const)
        await metrics.readErrors({ queue, fromMs, toMs: null, limit: 10, step });
}
