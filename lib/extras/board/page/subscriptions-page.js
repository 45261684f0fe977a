import { read } from './api.js';
import { link, table } from './dom.js';
import { ago } from './format.js';

export async function subscriptionsPage() {
  const { subscriptions } = await read('subscriptions');
  return [
    table({
      caption: 'Subscriptions of queues to topics',
      rows: subscriptions,
      empty: 'No queue has subscribed to a topic.',
      columns: [
        { title: 'Queue', cell: ({ queue }) => link(queue, 'queue', { queue }) },
        { title: 'Topic', cell: ({ topic }) => topic },
        {
          title: 'Only with headers',
          cell: ({ where, isMalformed }) => (isMalformed ? 'malformed: matches nothing' : filterText(where)),
        },
        { title: 'Since', cell: ({ createdAt }) => ago(createdAt) },
      ],
    }),
  ];
}

/** @param {Record<string, string | string[]>} where */
function filterText(where) {
  return Object.entries(where)
    .map(([name, values]) => `${name} = ${[values].flat().join(' or ')}`)
    .join(', ');
}
