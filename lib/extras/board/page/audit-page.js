import { read } from './api.js';
import { el, link, table } from './dom.js';
import { moment, number } from './format.js';
import { pager } from './jobs-table.js';
import { searchField, searchForm } from './search-form.js';

const FIELDS = [
  ['by', 'By'],
  ['verb', 'Verb'],
  ['queue', 'Queue'],
];

/** @param {import('./page.js').Context} context */
export async function auditPage({ params }) {
  const { by, verb, queue, after } = params;
  const { entries, next } = await read('audit', { by, verb, queue, after });
  return [
    searchForm(
      'Filter of the audit',
      'audit',
      FIELDS.map(([name, label]) => searchField(name, label, params[name])),
      {},
    ),
    table({
      caption: 'Changes, newest first',
      rows: entries,
      empty: 'No changes.',
      columns: [
        { title: 'At', cell: ({ at }) => moment(at) },
        { title: 'By', cell: (entry) => entry.by ?? 'unknown' },
        { title: 'Verb', cell: (entry) => entry.verb },
        { title: 'Queue', cell: (entry) => entry.queue && link(entry.queue, 'queue', { queue: entry.queue }) },
        { title: 'Which', cell: ({ which }) => selection(which) },
        {
          title: 'Options',
          cell: ({ options }) => (options === undefined ? '' : el('code', {}, JSON.stringify(options))),
        },
        { title: 'Changed', isNumber: true, cell: ({ count }) => number(count) },
      ],
    }),
    pager('audit', params, next),
  ];
}

/** @param {unknown} which an id, ids, a filter or a name */
function selection(which) {
  if (typeof which === 'number') return link(`#${which}`, 'job', { id: which });
  return typeof which === 'string' ? which : el('code', {}, JSON.stringify(which));
}
