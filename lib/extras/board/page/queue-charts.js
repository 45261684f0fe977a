import { read } from './api.js';
import { barChart, lineChart } from './charts.js';
import { el, hashOf } from './dom.js';
import { duration, number } from './format.js';

const STEPS = /** @type {Record<string, { ms: number, text: string }>} */ ({
  minute: { ms: 60_000, text: 'Last hour' },
  hour: { ms: 3_600_000, text: 'Last 60 hours' },
  day: { ms: 86_400_000, text: 'Last 60 days' },
});
const POINTS = 60;

/**
 * The attempts of a queue over time.
 *
 * @param {string} queue
 * @param {Record<string, string>} params
 */
export async function queueCharts(queue, params) {
  const step = Object.hasOwn(STEPS, params.step ?? '') ? params.step : 'minute';
  const { points } = await read('history', { queue, step });
  const series = evenPoints(points, step);
  const choices = Object.entries(STEPS).map(([name, { text }]) =>
    el(
      'a',
      { href: hashOf('queue', { ...params, step: name }), 'aria-current': name === step && 'true', 'data-focus': name },
      text,
    ),
  );
  return [
    el('p', { class: 'choices' }, choices),
    el(
      'div',
      { class: 'charts' },
      barChart({
        ...{ title: `Attempts per ${step}`, points: series, format: (value) => number(Math.round(value)) },
        series: [
          { name: 'Completed', style: 'completed', value: ({ completed }) => completed },
          { name: 'Failed', style: 'failed', value: ({ failed }) => failed },
        ],
      }),
      latencyChart('Wait before the start', series, 'waitMs'),
      latencyChart('Run time', series, 'runMs'),
    ),
  ];
}

/**
 * @param {string} title
 * @param {any[]} points
 * @param {'waitMs' | 'runMs'} field
 */
function latencyChart(title, points, field) {
  const percentile = (/** @type {string} */ name) => (/** @type {any} */ point) => point[field]?.[name] ?? null;
  return lineChart({
    ...{ title, points, format: (value) => duration(Math.round(value)) },
    series: [
      { name: 'Half', style: 'p50', value: percentile('p50') },
      { name: '95 %', style: 'p95', value: percentile('p95') },
      { name: '99 %', style: 'p99', value: percentile('p99') },
    ],
  });
}

/**
 * One point per step: a step without attempts has none in the answer.
 *
 * @param {any[]} points
 * @param {string} step
 */
function evenPoints(points, step) {
  const { ms } = STEPS[step];
  const last = Math.floor(Date.now() / ms) * ms;
  const byTime = new Map(points.filter((point) => point.step === step).map((point) => [Date.parse(point.at), point]));
  return Array.from({ length: POINTS }, (_, index) => {
    const at = last - (POINTS - 1 - index) * ms;
    return { completed: 0, failed: 0, waitMs: null, runMs: null, ...byTime.get(at), at };
  });
}
