import { actionButton } from './action.js';
import { read } from './api.js';
import { el, hashOf, section } from './dom.js';
import { ago } from './format.js';
import { jobsTable, pager } from './jobs-table.js';
import { rightsByQueue } from './rights.js';
import { searchField, searchForm } from './search-form.js';

const FIELDS = [
  ['owner', 'Owner'],
  ['queue', 'Queue'],
  ['stage', 'Stage of the queue'],
];

/** @param {import('./page.js').Context} context */
export async function peoplePage({ params }) {
  const { owner, queue, stage } = params;
  if (!owner && !queue) return [form(params), ...(await assignedNow(params))];
  const { jobs, next } = await read('people', { owner, queue, stage, after: params.after });
  const of = owner ? `assigned to ${owner}` : stage ? `in stage ${stage} of ${queue}` : `of ${queue} without an owner`;
  return [
    form(params),
    section(
      `Jobs ${of}`,
      jobsTable(`Jobs ${of}`, jobs, {
        hasQueue: !queue,
        more: [
          { title: 'Owner', cell: (job) => job.owner },
          { title: 'Stage', cell: (job) => job.stage },
          { title: 'Lease ends', cell: leaseText },
          { title: 'Snoozed until', cell: (job) => (job.snoozedUntil ? ago(job.snoozedUntil) : '') },
          { title: '', cell: await takeBack(jobs) },
        ],
      }),
      pager('people', params, next),
    ),
  ];
}

/** @param {Record<string, string>} params */
async function assignedNow(params) {
  const { jobs, next } = await read('jobs', { state: 'active', order: 'newest', after: params.after, limit: 200 });
  const assigned = jobs.filter((/** @type {any} */ { owner }) => owner !== null);
  const text = next
    ? 'Owners of the 200 newest active jobs. Older ones are on the next pages.'
    : 'All jobs that have an owner.';
  return [
    section(
      'Assigned now',
      el('p', {}, text),
      jobsTable('Assigned jobs', assigned, {
        hasQueue: true,
        more: [
          { title: 'Owner', cell: ({ owner }) => el('a', { href: hashOf('people', { owner }) }, owner) },
          { title: '', cell: await takeBack(assigned) },
        ],
      }),
      pager('people', params, next),
    ),
  ];
}

/**
 * The button of each job, by the rights for its queue.
 *
 * @param {any[]} jobs
 */
async function takeBack(jobs) {
  const rightsOf = await rightsByQueue(jobs);
  return (/** @type {any} */ job) => {
    const { id, owner, state } = job;
    if (state !== 'active') return null;
    return actionButton(rightsOf(job), {
      verb: 'release',
      text: 'Take back',
      label: `Take back job ${id}`,
      confirm: `Take job ${id} back from ${owner ?? 'its worker'}?`,
      isDangerous: true,
      body: () => ({ id }),
      done: ({ changed }) => (changed > 0 ? `Job ${id} waits again.` : `Job ${id} was not assigned any more.`),
    });
  };
}

/** @param {any} job */
function leaseText({ state, leaseUntil }) {
  if (state !== 'active') return '';
  return leaseUntil ? ago(leaseUntil) : 'until it is released';
}

/** @param {Record<string, string>} params */
function form(params) {
  const fields = FIELDS.map(([name, label]) => searchField(name, label, params[name]));
  return searchForm('Jobs of people', 'people', fields, {});
}
