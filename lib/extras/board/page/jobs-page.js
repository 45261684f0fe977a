import { read } from './api.js';
import { bulkButtons } from './bulk-action.js';
import { el, link } from './dom.js';
import { filterForm, filterOf } from './job-filter.js';
import { jobsTable, pager } from './jobs-table.js';
import { rightsFor } from './rights.js';

/** @param {import('./page.js').Context} context */
export async function jobsPage({ params }) {
  const { order = 'newest', after } = params;
  const filter = filterOf(params);
  const [{ jobs, next }, rights] = await Promise.all([
    read('jobs', { ...filter, order, after, limit: 50 }),
    rightsFor(params.queue),
  ]);
  /** @type {Set<number>} */
  const selected = new Set();
  const selectedText = el('span', { role: 'status' });
  const onSelect = (/** @type {number} */ id, /** @type {boolean} */ isSelected) => {
    if (isSelected) selected.add(id);
    else selected.delete(id);
    selectedText.textContent = selected.size === 0 ? '' : `${selected.size} selected`;
  };
  const selection = () => (selected.size > 0 ? { ids: [...selected] } : { filter });
  const isBulk = params.queue && rights.verbs.length > 2;
  const hint = jobs.length === 0 && next ? 'These 5,000 jobs have none that matches. The next page searches on.' : null;
  return [
    filterForm(params),
    ...(isBulk
      ? [
          el(
            'p',
            { class: 'buttons' },
            bulkButtons(rights, selection),
            el('small', {}, 'Selected jobs or, without a selection, all jobs of the filter, on every page.'),
            selectedText,
          ),
        ]
      : [el('p', {}, el('small', {}, 'Choose a queue to change its jobs together.'))]),
    jobsTable('Jobs', jobs, { hasQueue: !params.queue, ...(isBulk && { onSelect }) }),
    ...(hint ? [el('p', {}, hint)] : []),
    pager('jobs', params, next),
    ...(params.queue ? [el('p', {}, link(`Queue ${params.queue}`, 'queue', { queue: params.queue }))] : []),
  ];
}
