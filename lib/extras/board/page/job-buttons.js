import { actionButton } from './action.js';
import { hashOf } from './dom.js';

const FINISHED = ['completed', 'dead', 'cancelled'];
const IDLE = ['waiting', 'scheduled', 'blocked'];

/**
 * The actions that the state of the job allows.
 *
 * @param {{ verbs: string[] }} rights
 * @param {any} job
 */
export function jobButtons(rights, job) {
  const { id, state } = job;
  return ACTIONS.filter(({ states }) => states.includes(state)).map(({ action }) =>
    actionButton(rights, action(id, job)),
  );
}

/** @param {string} done */
const changedOr =
  (done) =>
  (/** @type {{ changed: number }} */ { changed }) =>
    changed > 0 ? done : 'The job has changed meanwhile: nothing was done.';

/** @type {{ states: string[], action: (id: number, job: any) => import('./action.js').Action }[]} */
const ACTIONS = [
  {
    states: FINISHED,
    action: (id, { state }) => ({
      verb: 'retry',
      text: 'Retry',
      body: () => ({ id, ...(state === 'completed' && { completed: true }) }),
      done: changedOr(`Job ${id} waits again.`),
      ...(state === 'completed' && { confirm: `Run the completed job ${id} once more?` }),
    }),
  },
  {
    states: ['scheduled'],
    action: (id) => ({ verb: 'promote', text: 'Run now', body: () => ({ id }), done: changedOr(`Job ${id} is due.`) }),
  },
  {
    states: ['active'],
    action: (id, { owner }) => ({
      verb: 'release',
      text: owner ? 'Take back' : 'Release',
      body: () => ({ id }),
      confirm: owner
        ? `Take job ${id} back from ${owner}?`
        : `Release job ${id}? If its handler still runs, the job may run twice at the same time.`,
      done: changedOr(`Job ${id} waits again.`),
    }),
  },
  {
    states: IDLE,
    action: (id) => ({
      verb: 'reschedule',
      text: 'Reschedule …',
      confirm: `Reschedule job ${id}`,
      fields: [
        { name: 'delay', label: 'In', hint: 'A time such as 30s, 10m or 2d' },
        { name: 'runAt', label: 'Or at (UTC)', type: 'datetime-local' },
      ],
      body: ({ delay, runAt }) => ({ id, ...(runAt ? { runAt: `${runAt}Z` } : { delay }) }),
      done: changedOr(`Job ${id} is scheduled.`),
    }),
  },
  {
    states: IDLE,
    action: (id, { priority }) => ({
      verb: 'reprioritise',
      text: 'Priority …',
      confirm: `Change the priority of job ${id}`,
      fields: [
        {
          name: 'priority',
          label: 'Priority',
          type: 'number',
          required: true,
          value: String(priority),
          hint: 'Smaller numbers run first.',
        },
      ],
      body: (values) => ({ id, priority: Number(values.priority) }),
      done: changedOr(`Job ${id} has a new priority.`),
    }),
  },
  {
    states: IDLE,
    action: (id, job) => ({
      verb: 'update',
      text: 'Payload …',
      confirm: `Replace the payload of job ${id}`,
      fields: [
        {
          name: 'payload',
          label: 'Payload as JSON',
          type: 'textarea',
          required: true,
          value: isComplete(job.payload) ? job.payload.text : '',
          hint: isComplete(job.payload)
            ? undefined
            : 'Parts of the payload are hidden. The new one replaces all of it.',
        },
      ],
      body: ({ payload }) => ({ id, payload: parsed(payload) }),
      done: changedOr(`Job ${id} has a new payload.`),
    }),
  },
  {
    states: [...FINISHED, ...IDLE, 'active'],
    action: (id) => ({
      verb: 'duplicate',
      text: 'Duplicate',
      confirm: `Enqueue a copy of job ${id}?`,
      body: () => ({ id }),
      done: (answer) => `Job ${answer.id} is a copy of job ${id}.`,
      after: (answer) => (location.hash = hashOf('job', { id: answer.id })),
    }),
  },
  {
    states: [...IDLE, 'active'],
    action: (id) => ({
      verb: 'cancel',
      text: 'Cancel',
      confirm: `Cancel job ${id}?`,
      isDangerous: true,
      body: () => ({ id }),
      done: changedOr(`Job ${id} is cancelled, or will be when its handler ends.`),
    }),
  },
  {
    states: [...FINISHED, ...IDLE],
    action: (id, { queue }) => ({
      verb: 'remove',
      text: 'Remove',
      confirm: `Delete job ${id} of ${queue}?`,
      isDangerous: true,
      body: () => ({ id }),
      done: changedOr(`Job ${id} is deleted.`),
      after: () => history.back(),
    }),
  },
];

/** @param {{ isCut: boolean, isRedacted: boolean } | null} shown */
function isComplete(shown) {
  return shown !== null && !shown.isCut && !shown.isRedacted;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The payload is no JSON: ${/** @type {Error} */ (error).message}`, { cause: error });
  }
}
