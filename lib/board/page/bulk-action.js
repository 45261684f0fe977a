import { announce, messageOf } from './announce.js';
import { write } from './api.js';
import { ask } from './dialog.js';
import { el } from './dom.js';
import { number } from './format.js';
import { refresh } from './refresh.js';

/**
 * @typedef {object} Bulk
 * @property {'retry' | 'cancel' | 'promote' | 'remove'} verb
 * @property {string} text
 * @property {string} past
 */

const BULKS = /** @type {Bulk[]} */ ([
  { verb: 'retry', text: 'Retry', past: 'retried' },
  { verb: 'cancel', text: 'Cancel', past: 'cancelled' },
  { verb: 'promote', text: 'Promote', past: 'promoted' },
  { verb: 'remove', text: 'Remove', past: 'removed' },
]);
const MAX_CHANGED = 10_000;

/**
 * Buttons that change the selected jobs or, without a selection, all jobs of the filter.
 *
 * @param {{ verbs: string[] }} rights
 * @param {() => object} selection `{ ids }` or `{ filter }`
 * @param {string[]} [verbs]
 */
export function bulkButtons(rights, selection, verbs = BULKS.map(({ verb }) => verb)) {
  return BULKS.filter(({ verb }) => verbs.includes(verb) && rights.verbs.includes(verb)).map((bulk) =>
    el(
      'button',
      {
        ...{ type: 'button', class: bulk.verb === 'remove' && 'danger', 'data-focus': `bulk ${bulk.verb}` },
        onclick: () => askForBulk(bulk, selection()),
      },
      `${bulk.text} …`,
    ),
  );
}

/**
 * Asks with the number of jobs that a dry run has counted.
 *
 * @param {Bulk} bulk
 * @param {any} selection
 */
export function askForBulk({ verb, text, past }, selection) {
  const counted = el('p', { role: 'status' }, 'Counting');
  const which = selection.ids
    ? `${number(selection.ids.length)} selected jobs`
    : `all jobs of the filter ${filterText(selection.filter)}`;
  const fields = [
    {
      name: 'limit',
      label: 'At most',
      type: /** @type {const} */ ('number'),
      value: String(MAX_CHANGED),
      hint: `1 to ${number(MAX_CHANGED)} jobs`,
    },
    ...(verb === 'retry'
      ? [
          { name: 'rate', label: 'Rate', hint: 'Such as 10/s or 600/m. Empty: all at once.' },
          { name: 'to', label: 'Into queue', hint: 'Empty: the queue of each job.' },
        ]
      : []),
  ];
  ask({
    title: `${text} ${which}?`,
    content: [counted],
    fields,
    submit: text,
    isDangerous: verb === 'remove' || verb === 'cancel',
    act: async ({ limit, rate, to }) => {
      const options = { ...(limit && { limit: Number(limit) }), ...(rate && { rate }), ...(to && { to }) };
      const { changed } = await write(verb, { ...selection, ...options });
      const isFull = changed >= Number(limit || MAX_CHANGED) && !selection.ids;
      announce(`${number(changed)} jobs ${past}.${isFull ? ' There may be more: repeat the action.' : ''}`);
      await refresh();
    },
  });
  void dryRun(verb, selection).then((count) => (counted.textContent = count));
}

/**
 * @param {string} verb
 * @param {object} selection
 */
async function dryRun(verb, selection) {
  try {
    const { changed } = await write(verb, { ...selection, dryRun: true });
    return `A dry run counted ${number(changed)}${changed >= MAX_CHANGED ? ' or more' : ''} jobs.`;
  } catch (error) {
    return `The dry run failed: ${messageOf(error)}`;
  }
}

/** @param {string} verb */
export function bulkOf(verb) {
  return /** @type {Bulk} */ (BULKS.find((bulk) => bulk.verb === verb));
}

/** @param {Record<string, string | string[] | undefined>} filter */
function filterText(filter) {
  return Object.entries(filter)
    .filter(([, value]) => value !== '' && value !== undefined)
    .map(([name, value]) => `${name} = ${[value].flat().join(', ')}`)
    .join(', ');
}
