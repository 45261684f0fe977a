import { actionButton, toggleButton } from './action.js';
import { read } from './api.js';
import { sparkline } from './charts.js';
import { el, link, table } from './dom.js';
import { badge, count, duration, number } from './format.js';
import { refresh } from './refresh.js';

/** @type {Promise<any> | undefined} */
let throughput;
let throughputAt = 0;

/** @param {import('./page.js').Context} context */
export async function queuesPage({ queues: pushed }) {
  const current = pushed ?? read('queues').then(({ queues }) => queues);
  const [queues, lines] = await Promise.all([current, lastHour()]);
  const line = (/** @type {any} */ row) => lines.find((/** @type {any} */ one) => one.queue === row.queue);
  const list = table({
    caption: `${number(queues.length)} queues`,
    rows: queues,
    empty: 'No queue has had a job yet.',
    columns: [
      { title: 'Queue', cell: (row) => link(row.queue, 'queue', { queue: row.queue }) },
      { title: 'State', cell: (row) => (row.paused ? badge('paused') : row.workers > 0 ? 'running' : 'no worker') },
      { title: 'Waiting', isNumber: true, cell: (row) => jobsLink(row, 'waiting') },
      { title: 'Scheduled', isNumber: true, cell: (row) => jobsLink(row, 'scheduled') },
      {
        title: 'Active',
        isNumber: true,
        cell: (row) => link(number(row.active), 'jobs', { queue: row.queue, state: 'active' }),
      },
      { title: 'Dead', isNumber: true, cell: (row) => deadLink(row) },
      { title: 'Oldest waits', isNumber: true, cell: (row) => duration(row.oldestWaitingMs) },
      { title: 'Next due', isNumber: true, cell: (row) => duration(row.nextDueInMs) },
      { title: 'Workers', isNumber: true, cell: (row) => number(row.workers) },
      { title: 'Last hour', cell: (row) => sparkline(row.queue, line(row)) },
      { title: '', cell: (row) => pauseButton(row, row) },
    ],
  });
  const all = queues.length > 1 ? el('p', { class: 'buttons' }, pauseAllButtons(queues)) : null;
  return [list, ...(all ? [all] : [])];
}

/**
 * @param {any} row
 * @param {'waiting' | 'scheduled'} state
 */
function jobsLink(row, state) {
  return link(count(row[state]), 'jobs', { queue: row.queue, state });
}

/** @param {any} row */
function deadLink(row) {
  if (row.dead.value === 0) return '0';
  return el('strong', {}, link(`${count(row.dead)} dead`, 'dead', { queue: row.queue }));
}

/**
 * @param {{ verbs: string[] }} rights for the queue
 * @param {any} row
 */
export function pauseButton(rights, { queue, paused }) {
  return toggleButton(rights, paused, {
    name: queue,
    body: { queue },
    done: (past) => `Queue ${queue} is ${past}. Running jobs continue.`,
  });
}

/** @param {{ verbs: string[] }[]} queues */
function pauseAllButtons(queues) {
  const rights = { verbs: queues.flatMap(({ verbs }) => verbs) };
  const done =
    (/** @type {string} */ text) =>
    (/** @type {any} */ { changed }) =>
      `${number(changed)} queues are ${text}.`;
  const body = () => ({ all: true });
  return [
    actionButton(rights, {
      verb: 'pause',
      text: 'Pause all queues',
      confirm: 'Pause all queues?',
      isDangerous: true,
      body,
      done: done('paused'),
    }),
    actionButton(rights, {
      verb: 'resume',
      text: 'Resume all queues',
      confirm: 'Resume all queues?',
      body,
      done: done('resumed'),
    }),
  ];
}

/** The lines change once a minute. The list does not wait for their first answer, which reads every queue. */
async function lastHour() {
  if (!throughput || Date.now() - throughputAt > 60_000) {
    throughputAt = Date.now();
    throughput = read('throughput').then(({ queues }) => queues);
    throughput.then(
      () => /^(#\/queues)?$/.test(location.hash) && refresh(),
      () => (throughput = undefined),
    );
    return lastLines;
  }
  lastLines = await throughput.catch(() => lastLines);
  return lastLines;
}

/** @type {any[]} */
let lastLines = [];
