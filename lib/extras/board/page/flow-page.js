import { actionButton } from './action.js';
import { read } from './api.js';
import { el, link, section, table } from './dom.js';
import { flowGraph } from './flow-graph.js';
import { badge, moment } from './format.js';
import { rightsFor } from './rights.js';
import { searchField, searchForm } from './search-form.js';

/** @param {import('./page.js').Context} context */
export async function flowPage({ params }) {
  if (!params.id) return [form()];
  const flow = await read('flow', { id: params.id });
  const { id, jobs } = flow;
  const rights = await rightsFor(jobs[0]?.queue);
  return [
    form(params.id),
    el('p', {}, 'Stored ', moment(flow.createdAt)),
    el('p', { class: 'buttons' }, buttons(rights, id)),
    section('Graph', flowGraph(jobs)),
    section(
      'Jobs',
      table({
        caption: 'Jobs of the flow, each after those that it needs',
        rows: jobs,
        columns: [
          { title: 'Job', cell: (job) => link(`#${job.id}`, 'job', { id: job.id }) },
          { title: 'Queue', cell: ({ queue }) => queue },
          { title: 'Name', cell: ({ name }) => name },
          { title: 'State', cell: ({ state }) => badge(state) },
          { title: 'Needs', cell: ({ needs }) => needs.map((/** @type {any} */ need) => `#${need.id}`).join(', ') },
        ],
      }),
    ),
  ];
}

/**
 * @param {{ verbs: string[] }} rights
 * @param {number} id
 */
function buttons(rights, id) {
  const body = () => ({ id });
  return [
    actionButton(rights, {
      verb: 'retry-flow',
      text: 'Retry failed jobs',
      confirm: `Retry the dead and cancelled jobs of flow ${id}?`,
      body,
      done: ({ changed }) => `${changed} jobs of flow ${id} are retried.`,
    }),
    actionButton(rights, {
      verb: 'cancel-flow',
      text: 'Cancel flow',
      confirm: `Cancel flow ${id}?`,
      isDangerous: true,
      body,
      done: ({ changed }) => `${changed} jobs of flow ${id} are cancelled.`,
    }),
  ];
}

/** @param {string} [id] */
function form(id) {
  return searchForm('Flow', 'flow', [searchField('id', 'Id of the flow', id)]);
}
