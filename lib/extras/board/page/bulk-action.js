import { announce, messageOf } from './announce.js';
import { write } from './api.js';
import { ask } from './dialog.js';
import { el } from './dom.js';
import { number } from './format.js';
import { refresh } from './refresh.js';

/** @typedef {'retry' | 'cancel' | 'promote' | 'remove'} BulkVerb */

const BULKS = {
  retry: { text: 'Retry', past: 'retried' },
  cancel: { text: 'Cancel', past: 'cancelled' },
  promote: { text: 'Promote', past: 'promoted' },
  remove: { text: 'Remove', past: 'removed' },
};
const MAX_CHANGED = 10_000;

/**
 * Buttons that change the selected jobs or, without a selection, all jobs of the filter.
 *
 * @param {{ verbs: string[] }} rights
 * @param {() => object} selection `{ ids }` or `{ filter }`
 */
export function bulkButtons(rights, selection) {
  const verbs = /** @type {BulkVerb[]} */ (Object.keys(BULKS));
  return verbs.map((verb) => bulkButton(rights, verb, { selection }));
}

/**
 * A button that changes many jobs, or nothing without the right.
 *
 * @param {{ verbs: string[] }} rights
 * @param {BulkVerb} verb
 * @param {object} options
 * @param {() => object} options.selection `{ ids }` or `{ filter }`
 * @param {string} [options.text]
 * @param {string} [options.error] of the jobs, if there is one button per error
 */
export function bulkButton(rights, verb, { selection, text = BULKS[verb].text, error }) {
  if (!rights.verbs.includes(verb)) return null;
  return el(
    'button',
    {
      type: 'button',
      class: verb === 'remove' && 'danger',
      'aria-label': error && `${text} the jobs with ${error}`,
      'data-focus': error ? `${verb} ${error}` : `bulk ${verb}`,
      onclick: () => askForBulk(verb, selection()),
    },
    `${text} …`,
  );
}

/**
 * Asks with the number of jobs that a dry run has counted.
 *
 * @param {BulkVerb} verb
 * @param {any} selection
 */
function askForBulk(verb, selection) {
  const { text, past } = BULKS[verb];
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

/** @param {Record<string, string | string[] | undefined>} filter */
function filterText(filter) {
  return Object.entries(filter)
    .filter(([, value]) => value !== '' && value !== undefined)
    .map(([name, value]) => `${name} = ${[value].flat().join(', ')}`)
    .join(', ');
}
