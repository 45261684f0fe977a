import { read } from './api.js';
import { bulkButton } from './bulk-action.js';
import { el, link, table } from './dom.js';
import { ago, count, number } from './format.js';
import { rightsFor } from './rights.js';

/** @param {import('./page.js').Context} context */
export function deadPage({ params }) {
  return params.queue ? drawGroups(params.queue) : drawQueues();
}

async function drawQueues() {
  const { queues } = await read('queues');
  const withDead = queues.filter((/** @type {any} */ { dead }) => dead.value > 0);
  return [
    table({
      caption: 'Queues with dead jobs',
      rows: withDead,
      empty: 'No queue has dead jobs.',
      columns: [
        { title: 'Queue', cell: ({ queue }) => link(queue, 'dead', { queue }) },
        { title: 'Dead', isNumber: true, cell: ({ dead }) => count(dead) },
      ],
    }),
  ];
}

/** @param {string} queue */
async function drawGroups(queue) {
  const [{ groups, examined, hasMore }, rights] = await Promise.all([read('dead', { queue }), rightsFor(queue)]);
  const bound = hasMore
    ? `These are the newest ${number(examined)} dead jobs. There are more, which are not in the numbers below.`
    : `These are all ${number(examined)} dead jobs.`;
  return [
    el('p', {}, bound),
    table({
      caption: `Dead jobs of ${queue} by error`,
      rows: groups,
      empty: 'No dead jobs.',
      columns: [
        {
          title: 'Error',
          cell: ({ error }) => (error ? link(error, 'jobs', { queue, state: 'dead', error }) : 'without an error'),
        },
        { title: 'Jobs', isNumber: true, cell: (group) => `${number(group.count)}${hasMore ? '+' : ''}` },
        { title: 'Newest message', cell: ({ message }) => el('span', { class: 'error-text' }, message) },
        { title: 'Names', cell: ({ names }) => names.join(', ') },
        {
          title: 'Newest',
          cell: ({ newestAt, newestId }) => [link(`#${newestId}`, 'job', { id: newestId }), ' ', ago(newestAt)],
        },
        { title: 'Oldest', cell: ({ oldestAt }) => ago(oldestAt) },
        { title: '', cell: ({ error }) => el('span', { class: 'buttons' }, groupButtons(rights, queue, error)) },
      ],
    }),
    el(
      'p',
      { class: 'choices' },
      link('All dead jobs', 'jobs', { queue, state: 'dead' }),
      link('Queue', 'queue', { queue }),
    ),
  ];
}

/**
 * @param {{ verbs: string[] }} rights
 * @param {string} queue
 * @param {string} error
 */
function groupButtons(rights, queue, error) {
  if (!error) return [];
  const selection = () => ({ filter: { queue, state: 'dead', error } });
  return [
    bulkButton(rights, 'retry', { selection, error, text: 'Replay' }),
    bulkButton(rights, 'remove', { selection, error }),
  ];
}
