import { el, svg, table } from './dom.js';
import { exact, number } from './format.js';

const HEIGHT = 170;
const LEFT = 52;
const BOTTOM = 24;
const TOP = 12;

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {string} style the class of its marks; lines also differ by their dashes, bars by their place
 * @property {(point: any) => number | null} value
 */

/**
 * @typedef {object} Chart
 * @property {string} title
 * @property {any[]} points each with `at` in milliseconds, at even distances
 * @property {Series[]} series
 * @property {(value: number) => string} format
 */

/**
 * The completed and failed attempts of the last hour.
 *
 * @param {string} queue
 * @param {{ completed: number[], failed: number[] } | undefined} line
 */
export function sparkline(queue, line) {
  if (!line) return '–';
  const most = Math.max(1, ...line.completed.map((value, index) => value + line.failed[index]));
  const bars = line.completed.flatMap((completed, index) => {
    const failed = line.failed[index];
    const top = (/** @type {number} */ value) => 24 - (24 * value) / most;
    return [
      completed > 0 && bar('completed', index * 2, top(completed), 1.6, 24 - top(completed)),
      failed > 0 && bar('failed', index * 2, top(completed + failed), 1.6, (24 * failed) / most),
    ];
  });
  const [completed, failed] = [sum(line.completed), sum(line.failed)];
  const label = `${queue}: ${number(completed)} completed and ${number(failed)} failed attempts in the last hour`;
  return svg('svg', { class: 'sparkline', role: 'img', 'aria-label': label, width: 120, height: 24 }, bars);
}

/** @param {Chart} chart bars that stand on one another */
export function barChart(chart) {
  const { points, series } = chart;
  const most = Math.max(1, ...points.map((point) => sum(series.map(({ value }) => value(point) ?? 0))));
  return figure(chart, most, ({ x, y, step }) =>
    points.flatMap((point, index) => {
      let below = 0;
      return series.map(({ style, value }) => {
        const height = value(point) ?? 0;
        below += height;
        return height > 0 && bar(style, x(index) - step * 0.4, y(below), step * 0.8, y(0) - y(height));
      });
    }),
  );
}

/** @param {Chart} chart lines with gaps */
export function lineChart(chart) {
  const { points, series } = chart;
  const most = Math.max(1, ...points.flatMap((point) => series.map(({ value }) => value(point) ?? 0)));
  return figure(chart, most, ({ x, y }) =>
    series.map(({ style, value }) => {
      let isApart = true;
      const parts = points.map((point, index) => {
        const height = value(point);
        const start = isApart;
        isApart = height === null;
        return height === null ? '' : `${start ? 'M' : 'L'}${x(index).toFixed(1)} ${y(height).toFixed(1)}`;
      });
      // A point without neighbours has a length of zero, which round ends make visible.
      return svg('path', { class: `line ${style}`, d: parts.join(' ').replace(/(M\S+ \S+)(?= *(M|$))/g, '$1 h0.01') });
    }),
  );
}

/**
 * @param {Chart} chart
 * @param {number} most
 * @param {(scale: { x: (index: number) => number, y: (value: number) => number, step: number }) => any[]} draw
 */
function figure({ title, points, series, format }, most, draw) {
  // Drawn for the width of the screen, so that texts keep their size.
  const width = Math.max(280, Math.min(360, innerWidth - 64));
  const step = (width - LEFT - 8) / Math.max(1, points.length);
  const x = (/** @type {number} */ index) => LEFT + step * (index + 0.5);
  const y = (/** @type {number} */ value) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * value) / most;
  const lines = [0, 0.5, 1].flatMap((part) => [
    svg('line', { class: 'grid', x1: LEFT, x2: width - 8, y1: y(most * part), y2: y(most * part) }),
    svg('text', { x: LEFT - 6, y: y(most * part) + 4, 'text-anchor': 'end' }, part === 0 ? '0' : format(most * part)),
  ]);
  const times = [0, Math.floor(points.length / 2), points.length - 1].map((index, place) =>
    svg(
      'text',
      { x: x(index), y: HEIGHT - 6, 'text-anchor': ['start', 'middle', 'end'][place] },
      timeOf(points, index),
    ),
  );
  const legend = series.map(({ name, style }) =>
    el('li', {}, svg('svg', { width: 22, height: 10, 'aria-hidden': 'true' }, mark(style)), name),
  );
  const label = `${title}. ${series.map((one) => summary(one, points, format)).join('. ')}.`;
  return el(
    'figure',
    {},
    el('figcaption', {}, title),
    svg(
      'svg',
      { role: 'img', 'aria-label': label, width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` },
      ...[lines, times, draw({ x, y, step })],
    ),
    el('ul', { class: 'legend' }, legend),
    el('details', {}, el('summary', { 'data-focus': title }, 'As a table'), valuesTable(title, points, series, format)),
  );
}

/**
 * @param {string} title
 * @param {any[]} points
 * @param {Series[]} series
 * @param {(value: number) => string} format
 */
function valuesTable(title, points, series, format) {
  const withValues = points.filter((point) => series.some(({ value }) => value(point)));
  return table({
    caption: title,
    rows: withValues,
    empty: 'No attempts in this time.',
    columns: [
      { title: 'Time', cell: ({ at }) => exact(new Date(at).toISOString()) },
      ...series.map(({ name, value }) => ({
        ...{ title: name, isNumber: true },
        cell: (/** @type {any} */ point) => format(value(point) ?? 0),
      })),
    ],
  });
}

/** @param {string} style */
function mark(style) {
  const isLine = style.startsWith('p');
  return isLine ? svg('path', { class: `line ${style}`, d: 'M0 5 L22 5' }) : bar(style, 4, 0, 12, 10);
}

/**
 * @param {string} style
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function bar(style, x, y, width, height) {
  return svg('rect', {
    class: `bar ${style}`,
    x: x.toFixed(1),
    y: y.toFixed(1),
    width,
    height: Math.max(1, height).toFixed(1),
  });
}

/**
 * @param {Series} series
 * @param {any[]} points
 * @param {(value: number) => string} format
 */
function summary({ name, value }, points, format) {
  const values = points.map(value).filter((one) => one !== null);
  return `${name}: ${values.length === 0 ? 'none' : `at most ${format(Math.max(...values))}`}`;
}

/**
 * @param {any[]} points
 * @param {number} index
 */
function timeOf(points, index) {
  if (points.length === 0) return '';
  const isLong = points.length > 1 && points.at(-1).at - points[0].at > 86_400_000;
  const date = new Date(points[index].at);
  return isLong
    ? date.toLocaleDateString('en', { day: 'numeric', month: 'short' })
    : date.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false });
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
