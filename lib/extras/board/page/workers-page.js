import { read } from './api.js';
import { link, table } from './dom.js';
import { ago } from './format.js';

const SILENT_MS = 60_000;

export async function workersPage() {
  const { workers } = await read('workers');
  return [
    table({
      caption: 'Running workers, and those that crashed within the last day',
      rows: workers,
      empty: 'No worker runs.',
      columns: [
        { title: 'Worker', cell: ({ id }) => link(id, 'jobs', { worker: id, state: 'active' }) },
        { title: 'Host', cell: ({ host, pid }) => `${host}, process ${pid}` },
        { title: 'Queues', cell: ({ queues }) => queues.join(', ') },
        { title: 'Started', cell: ({ startedAt }) => ago(startedAt) },
        { title: 'Last heartbeat', cell: ({ seenAt }) => ago(seenAt) },
        {
          title: 'State',
          cell: ({ seenAt }) => (Date.now() - Date.parse(seenAt) > SILENT_MS ? '✗ silent' : '✓ alive'),
        },
      ],
    }),
  ];
}
