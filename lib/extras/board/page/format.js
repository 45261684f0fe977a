import { el } from './dom.js';

const UNITS = /** @type {const} */ ([
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]);

/**
 * @param {number | null | undefined} ms
 * @returns {string} the duration in its largest unit
 */
export function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  const [unit, length] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? ['ms', 1];
  const value = ms / length;
  return `${Math.abs(value) < 10 && unit !== 'ms' ? Math.round(value * 10) / 10 : Math.round(value)} ${unit}`;
}

/** @param {string | null | undefined} date */
export function ago(date) {
  if (!date) return '–';
  const ms = Date.now() - Date.parse(date);
  const text = ms >= 0 ? `${duration(ms)} ago` : `in ${duration(-ms)}`;
  return el('time', { datetime: date, title: exact(date) }, text);
}

/** @param {string} date */
export function exact(date) {
  return `${date.slice(0, 10)} ${date.slice(11, 19)} UTC`;
}

/** @param {string | null | undefined} date */
export function moment(date) {
  return date ? el('span', {}, el('time', { datetime: date }, exact(date)), ' (', ago(date), ')') : null;
}

/** @param {{ value: number, atLeast: boolean }} count */
export function count({ value, atLeast }) {
  return `${number(value)}${atLeast ? '+' : ''}`;
}

/** @param {number} value */
export function number(value) {
  return value.toLocaleString('en');
}

const SIGNS = /** @type {Record<string, string>} */ ({
  waiting: '○',
  scheduled: '◷',
  active: '▶',
  blocked: '◌',
  completed: '✓',
  dead: '✗',
  cancelled: '⊘',
  paused: '❚❚',
});

/** @param {string} state a sign and the word, so that the colour is not needed */
export function badge(state) {
  return el(
    'span',
    { class: `badge ${state}` },
    el('span', { 'aria-hidden': 'true' }, SIGNS[state] ?? '•'),
    ` ${state}`,
  );
}

/** @param {{ limit: number, perMs: number, window: string } | null | undefined} rate */
export function rateText(rate) {
  return rate ? `${number(rate.limit)} per ${duration(rate.perMs)}` : 'no limit';
}

/** @param {{ name: string, message: string, code?: string } | null} error */
export function errorText(error) {
  return error ? `${error.code ?? error.name}: ${error.message}` : '';
}
