import type { Job } from '../../answers.js';
import type { WriteAnswer } from '../../api.js';
import { may } from '../../live/rights.js';
import { go } from '../../live/route.js';
import type { Action } from '../../parts/action.js';
import { isWhole } from '../../parts/json-tree.js';
import { parsedJson } from '../../parts/parsed-json.js';

const FINISHED = ['completed', 'dead', 'cancelled'];
const IDLE = ['waiting', 'scheduled', 'blocked'];

const parsedPayload = (text: string) => parsedJson(text, 'payload', 'The payload is');

const changedOr =
  (done: string) =>
  ({ changed = 0 }: WriteAnswer) =>
    changed > 0 ? done : 'The job has changed meanwhile: nothing was done.';

/** The actions that the state of the job allows. The first ones are those of most visits. */
export function actionsOf(job: Job): { main: Action[]; more: Action[] } {
  const is = (states: readonly string[]) => states.includes(job.state);
  const given = (isAllowed: boolean, action: (job: Job) => Action) => (isAllowed ? [action(job)] : []);
  return {
    main: [
      ...given(is(FINISHED), retry),
      ...given(is(['scheduled']), runNow),
      ...given(is(['active']), release),
      ...given(is([...IDLE, 'active']), cancel),
    ],
    more: [
      ...given(is(IDLE), reschedule),
      ...given(is(IDLE), reprioritise),
      ...given(is(IDLE), update),
      ...given(true, duplicate),
      ...given(!is(['active']), remove),
    ],
  };
}

export function retry({ id, state }: Job): Action {
  return {
    verb: 'retry',
    text: 'Retry',
    body: () => ({ id, ...(state === 'completed' && { completed: true }) }),
    done: changedOr(`Job ${id} waits again.`),
    ...(state === 'completed' && { confirm: `Run the completed job ${id} once more?` }),
  };
}

function runNow({ id }: Job): Action {
  return { verb: 'promote', text: 'Run now', body: () => ({ id }), done: changedOr(`Job ${id} is due.`) };
}

function release({ id, owner }: Job): Action {
  return {
    verb: 'release',
    text: owner === null ? 'Release' : 'Take back',
    body: () => ({ id }),
    confirm:
      owner === null
        ? `Release job ${id}? If its handler still runs, the job may run twice at the same time.`
        : `Take job ${id} back from ${owner}?`,
    done: changedOr(`Job ${id} waits again.`),
  };
}

function cancel({ id }: Job): Action {
  return {
    ...{ verb: 'cancel', text: 'Cancel', confirm: `Cancel job ${id}?`, isDangerous: true, body: () => ({ id }) },
    done: changedOr(`Job ${id} is cancelled, or will be when its handler ends.`),
  };
}

function reschedule({ id }: Job): Action {
  return {
    verb: 'reschedule',
    text: 'Reschedule …',
    confirm: `Reschedule job ${id}`,
    fields: [
      { name: 'delay', label: 'In', hint: 'A time such as 30s, 10m or 2d' },
      { name: 'runAt', label: 'Or at', type: 'datetime-local', hint: 'In your time zone' },
    ],
    body: ({ delay, runAt }) => ({ id, ...(runAt ? { runAt: new Date(runAt).toISOString() } : { delay }) }),
    done: changedOr(`Job ${id} is scheduled.`),
  };
}

function reprioritise({ id, priority }: Job): Action {
  const hint = 'Smaller numbers run first.';
  return {
    verb: 'reprioritise',
    text: 'Priority …',
    confirm: `Change the priority of job ${id}`,
    fields: [{ name: 'priority', label: 'Priority', type: 'number', required: true, value: String(priority), hint }],
    body: (values) => ({ id, priority: Number(values['priority']) }),
    done: changedOr(`Job ${id} has a new priority.`),
  };
}

function update({ id, payload }: Job): Action {
  const isComplete = isWhole(payload);
  return {
    verb: 'update',
    text: 'Payload …',
    confirm: `Replace the payload of job ${id}`,
    fields: [
      {
        ...{ name: 'payload', label: 'Payload as JSON', type: 'textarea', required: true },
        value: isComplete ? payload.text : '',
        hint: isComplete ? undefined : 'Parts of the payload are hidden. The new one replaces all of it.',
      },
    ],
    body: (values) => ({ id, payload: parsedPayload(values['payload'] ?? '') }),
    done: changedOr(`Job ${id} has a new payload.`),
  };
}

function duplicate({ id, queue, payload }: Job): Action {
  // A copy with another payload is a copy and an update.
  const isComplete = isWhole(payload) && may('update', queue);
  return {
    verb: 'duplicate',
    text: 'Run a copy …',
    confirm: `Enqueue a copy of job ${id}?`,
    fields: isComplete ? [{ name: 'payload', label: 'Payload as JSON', type: 'textarea', value: payload.text }] : [],
    // A copy with the same payload needs no right to change payloads.
    body: ({ payload: text = '' }) => ({
      id,
      ...(isComplete && text !== payload.text.trim() && { payload: parsedPayload(text) }),
    }),
    done: (answer) => `Job ${answer.id} is a copy of job ${id}.`,
    after: (answer) => go('job', { id: answer.id }),
  };
}

function remove({ id, queue }: Job): Action {
  return {
    ...{ verb: 'remove', text: 'Remove', isDangerous: true, body: () => ({ id }) },
    confirm: `Delete job ${id} of ${queue}?`,
    done: changedOr(`Job ${id} is deleted.`),
    after: ({ changed = 0 }) => changed > 0 && go('jobs', { queue }),
  };
}
