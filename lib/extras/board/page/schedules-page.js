import { actionButton, toggleButton } from './action.js';
import { announceError } from './announce.js';
import { read } from './api.js';
import { ask } from './dialog.js';
import { el, link, table } from './dom.js';
import { ago, badge, duration, exact } from './format.js';
import { rightsByQueue } from './rights.js';

export async function schedulesPage() {
  const { schedules } = await read('schedules');
  const rightsOf = await rightsByQueue(schedules);
  return [
    table({
      caption: 'Schedules',
      rows: schedules,
      empty: 'No schedules.',
      columns: [
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Queue', cell: ({ queue }) => link(queue, 'queue', { queue }) },
        {
          title: 'Times',
          cell: ({ cron, tz, everyMs }) => (cron === null ? `every ${duration(everyMs)}` : `${cron} (${tz})`),
        },
        { title: 'State', cell: ({ isPaused, nextAt }) => (isPaused ? badge('paused') : nextAt ? 'on' : 'ended') },
        { title: 'Next tick', cell: ({ nextAt }) => ago(nextAt) },
        {
          title: 'Last tick',
          cell: (row) => [
            ago(row.lastAt),
            ' ',
            row.lastJobId && link(`#${row.lastJobId}`, 'job', { id: row.lastJobId }),
          ],
        },
        { title: 'From', cell: ({ source, revision }) => (revision ? `${source}, revision ${revision}` : source) },
        { title: '', cell: (row) => buttons(rightsOf(row), row) },
      ],
    }),
  ];
}

/**
 * @param {{ verbs: string[] }} rights
 * @param {any} schedule
 */
function buttons(rights, { name, isPaused, payload }) {
  const showTicks = el(
    'button',
    {
      type: 'button',
      'aria-label': `Next ticks of ${name}`,
      'data-focus': `preview ${name}`,
      onclick: () => preview(name, payload).catch(announceError),
    },
    'Next ticks',
  );
  return el(
    'span',
    { class: 'buttons' },
    showTicks,
    toggleButton(rights, isPaused, {
      name,
      suffix: '-schedule',
      body: { name },
      done: (past) => `Schedule ${name} is ${past}.`,
    }),
    actionButton(rights, {
      verb: 'run-schedule',
      text: 'Run now',
      label: `Run now: ${name}`,
      confirm: `Enqueue a job of ${name} now?`,
      body: () => ({ name }),
      done: ({ id }) => `Job ${id} of ${name} is enqueued.`,
    }),
  );
}

/**
 * @param {string} name
 * @param {{ text: string } | null} payload
 */
async function preview(name, payload) {
  const { ticks } = await read('preview', { name, count: 10 });
  const items = ticks.map((/** @type {string} */ tick) => el('li', {}, exact(tick)));
  const list = items.length > 0 ? el('ol', {}, items) : el('p', {}, 'It has no further tick.');
  const content = payload ? [list, el('h3', {}, 'Payload'), el('pre', { tabindex: '0' }, payload.text)] : [list];
  ask({ title: `Next ticks of ${name}`, content, submit: 'Close', act: async () => {} });
}
