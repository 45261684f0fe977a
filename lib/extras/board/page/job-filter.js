import { el } from './dom.js';
import { searchField, searchForm } from './search-form.js';

const STATES = ['waiting', 'scheduled', 'active', 'blocked', 'dead', 'cancelled', 'completed'];

const FIELDS = [
  ['queue', 'Queue', 'text'],
  ['name', 'Name', 'text'],
  ['error', 'Error code or name', 'text'],
  ['key', 'Key', 'text'],
  ['owner', 'Owner', 'text'],
  ['worker', 'Worker', 'text'],
  ['header', 'Header, as name:value', 'text'],
  ['createdAfter', 'Enqueued from (UTC)', 'datetime-local'],
  ['createdBefore', 'Enqueued before (UTC)', 'datetime-local'],
];
const TIMES = ['createdAfter', 'createdBefore'];

/**
 * A form for the filter of a list. Its values are in the URL.
 *
 * @param {Record<string, string>} params
 */
export function filterForm(params) {
  return searchForm(
    'Filter of jobs',
    'jobs',
    [
      select('state', 'State', ['', ...STATES], params.state),
      ...FIELDS.map(([name, label, type]) => searchField(name, label, params[name], type)),
      select('order', 'Order', ['newest', 'oldest'], params.order ?? 'newest'),
    ],
    { queue: params.queue },
  );
}

/**
 * The filter as the server takes it.
 *
 * @param {Record<string, string>} params
 */
export function filterOf({ after: _after, order: _order, header, ...params }) {
  const filter = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, valueOf(name, value)]));
  return { ...filter, ...(header && { header: [header] }) };
}

/**
 * @param {string} name
 * @param {string} value
 */
function valueOf(name, value) {
  return TIMES.includes(name) && value ? `${value}Z` : value;
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string[]} values
 * @param {string} [chosen]
 */
function select(name, label, values, chosen = '') {
  const options = values.map((value) => el('option', { value, selected: value === chosen }, value || 'any'));
  return el('label', {}, label, el('select', { name, 'data-focus': `search ${name}` }, options));
}
