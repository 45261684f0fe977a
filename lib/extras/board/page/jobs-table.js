import { el, link, table } from './dom.js';
import { ago, badge, errorText } from './format.js';

/**
 * Jobs of a list.
 *
 * @param {string} caption
 * @param {any[]} jobs
 * @param {object} [options]
 * @param {boolean} [options.hasQueue] shows the queue of each job
 * @param {(id: number, isSelected: boolean) => void} [options.onSelect] adds a checkbox per job
 * @param {{ title: string, cell: (row: any) => import('./dom.js').Child }[]} [options.more] further columns
 */
export function jobsTable(caption, jobs, { hasQueue = false, onSelect, more = [] } = {}) {
  const select = (/** @type {any} */ { id }) =>
    el('input', {
      ...{ type: 'checkbox', value: id, 'aria-label': `Select job ${id}` },
      onchange: (/** @type {any} */ { target }) => onSelect?.(id, target.checked),
    });
  return table({
    caption,
    rows: jobs,
    empty: 'No jobs.',
    columns: [
      ...(onSelect ? [{ title: 'Select', cell: select }] : []),
      { title: 'Job', cell: ({ id }) => link(`#${id}`, 'job', { id }) },
      ...(hasQueue
        ? [{ title: 'Queue', cell: (/** @type {any} */ { queue }) => link(queue, 'queue', { queue }) }]
        : []),
      { title: 'Name', cell: ({ name, key }) => (key === null ? name : `${name} (key ${key})`) },
      { title: 'State', cell: ({ state }) => badge(state) },
      {
        title: 'Attempt',
        isNumber: true,
        cell: ({ attempt, maxAttempts }) => `${attempt}${maxAttempts ? `/${maxAttempts}` : ''}`,
      },
      { title: 'Enqueued', cell: ({ createdAt }) => ago(createdAt) },
      { title: 'Due, started or ended', cell: (job) => ago(job.finishedAt ?? job.startedAt ?? job.runAt) },
      { title: 'Error', cell: ({ error }) => el('span', { class: 'error-text' }, errorText(error)) },
      ...more,
    ],
  });
}

/**
 * Links to the pages of a list.
 *
 * @param {string} page
 * @param {Record<string, string>} params
 * @param {string | null} next
 */
export function pager(page, params, next) {
  const { after, ...first } = params;
  return el(
    'p',
    { class: 'choices' },
    after ? link('First page', page, first) : null,
    next ? link('Next page', page, { ...params, after: next }) : null,
  );
}
