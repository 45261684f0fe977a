import { actionButton } from './action.js';
import { read } from './api.js';
import { el, facts, link, section } from './dom.js';
import { badge, count, duration, moment, number } from './format.js';
import { groupsSection } from './groups-section.js';
import { jobsTable } from './jobs-table.js';
import { limitChange, LIMIT_FIELDS } from './limit-fields.js';
import { queueCharts } from './queue-charts.js';
import { pauseButton } from './queues-page.js';
import { rightsFor } from './rights.js';
import { settingsSection } from './settings-section.js';

/** @param {import('./page.js').Context} context */
export async function queuePage({ params }) {
  const { queue } = params;
  const [record, rights, charts, { jobs }, groups] = await Promise.all([
    read('queue', { queue }),
    rightsFor(queue),
    queueCharts(queue, params),
    read('jobs', { queue, order: 'newest', limit: 10 }),
    read('groups', { queue, after: params.group, limit: 20 }),
  ]);
  return [
    el('p', { class: 'buttons' }, pauseButton(rights, record), limitButtons(rights, record)),
    numbers(record),
    section('Last attempts', ...charts),
    settingsSection(record, rights),
    ...groupsSection(queue, groups, rights),
    section(
      'Newest jobs',
      jobsTable('Newest jobs', jobs),
      el(
        'p',
        { class: 'choices' },
        link('All jobs of the queue', 'jobs', { queue }),
        link('Dead jobs by error', 'dead', { queue }),
        link('Audit of the queue', 'audit', { queue }),
      ),
    ),
  ];
}

/** @param {any} record */
function numbers(record) {
  const { queue } = record;
  const jobs = (/** @type {string} */ state) => link(count(record[state]), 'jobs', { queue, state });
  return facts([
    ['State', record.paused ? badge('paused') : 'not paused'],
    ['Waiting', jobs('waiting')],
    ['Scheduled', jobs('scheduled')],
    ['Active', link(number(record.active), 'jobs', { queue, state: 'active' })],
    ['Blocked', record.blocked.value > 0 ? jobs('blocked') : null],
    ['In a stage', record.staged.value > 0 ? count(record.staged) : null],
    ['Prefetched', record.prefetched > 0 ? number(record.prefetched) : null],
    ['Dead', link(count(record.dead), 'dead', { queue })],
    ['Oldest waits', duration(record.oldestWaitingMs)],
    ['Next due', duration(record.nextDueInMs)],
    ['Workers', number(record.workers)],
    ['Expires unused after', record.expiresAfterMs === null ? null : duration(record.expiresAfterMs)],
    ['Counted', moment(record.sampledAt)],
  ]);
}

/**
 * @param {{ verbs: string[] }} rights
 * @param {any} record
 */
function limitButtons(rights, { queue, maxRunning }) {
  const running = {
    name: 'maxRunning',
    label: 'Running at once',
    value: maxRunning === null ? '' : String(maxRunning),
    hint: 'A number, or "none". Empty: as it is.',
  };
  return [
    actionButton(rights, {
      verb: 'limit',
      text: 'Limit …',
      confirm: `Limit ${queue} in all processes`,
      fields: [running, ...LIMIT_FIELDS, REST],
      body: (values) => ({ queue, change: limitChange(values, 'maxRunning') }),
      done: () => `The limits of ${queue} are changed. Running jobs continue.`,
    }),
    actionButton(rights, {
      verb: 'limit',
      text: 'Reset limits',
      confirm: `Limits of ${queue} as in its options again?`,
      body: () => ({ queue, change: null }),
      done: () => `The limits of ${queue} are those of its options again.`,
    }),
  ];
}

const REST = { name: 'rest', label: 'Rest', hint: 'Start no job for a time such as 30s or 10m, or "none".' };
