import { actionButton, toggleButton } from './action.js';
import { el, link, section, table } from './dom.js';
import { ago, number, rateText } from './format.js';
import { LIMIT_FIELDS, limitChange } from './limit-fields.js';

// The server counts no further.
const MAX_COUNTED = 1_000;

/**
 * The groups of a queue; nothing if it has none.
 *
 * @param {string} queue
 * @param {{ groups: any[], next: string | null }} page
 * @param {{ verbs: string[] }} rights
 */
export function groupsSection(queue, { groups, next }, rights) {
  if (groups.length === 0) return [];
  const list = table({
    caption: 'Groups',
    rows: groups,
    columns: [
      { title: 'Group', cell: ({ group }) => group },
      { title: 'State', cell: ({ state }) => state },
      { title: 'Waiting', isNumber: true, cell: ({ counts: { waiting, active } }) => upTo(waiting, waiting + active) },
      { title: 'Scheduled', isNumber: true, cell: ({ counts }) => number(counts.scheduled) },
      { title: 'Active', isNumber: true, cell: ({ counts }) => number(counts.active) },
      { title: 'Limit', cell: ({ concurrency, rate }) => limitText(concurrency, rate) },
      { title: 'Weight', isNumber: true, cell: ({ weight }) => number(weight) },
      { title: 'Rests until', cell: ({ restsUntil }) => ago(restsUntil) },
      { title: '', cell: (group) => groupButtons(rights, queue, group) },
    ],
  });
  const more = next ? el('p', {}, link('More groups', 'queue', { queue, group: next })) : null;
  return [section('Groups', list, more)];
}

/**
 * @param {number} waiting
 * @param {number} counted with the active jobs
 */
function upTo(waiting, counted) {
  return counted < MAX_COUNTED ? number(waiting) : `${number(waiting)}+`;
}

/**
 * @param {number | null | undefined} concurrency
 * @param {any} rate
 */
function limitText(concurrency, rate) {
  const running = concurrency === undefined ? [] : [concurrency === null ? 'no limit' : `${concurrency} running`];
  return [...running, ...(rate === undefined ? [] : [rateText(rate)])].join(', ') || 'as in the options';
}

/**
 * @param {{ verbs: string[] }} rights
 * @param {string} queue
 * @param {any} record
 */
function groupButtons(rights, queue, { group, state }) {
  return el(
    'span',
    { class: 'buttons' },
    toggleButton(rights, state === 'paused', {
      name: `group ${group}`,
      suffix: '-group',
      body: { queue, group },
      done: (past) => `Group ${group} is ${past}.`,
    }),
    actionButton(rights, {
      verb: 'limit-group',
      text: 'Limit …',
      label: `Limit group ${group}`,
      confirm: `Limit group ${group}`,
      fields: [
        { name: 'concurrency', label: 'Running at once', hint: 'A number, or "none". Empty: as it is.' },
        ...LIMIT_FIELDS,
        { name: 'weight', label: 'Weight', type: 'number', hint: '1 to 1,000' },
      ],
      body: (values) => ({ queue, group, change: limitChange(values, 'concurrency') }),
      done: () => `The limits of group ${group} are changed.`,
    }),
  );
}
