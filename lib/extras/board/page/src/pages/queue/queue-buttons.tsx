import type { Queue, Verb } from '../../answers.js';
import { number } from '../../format.js';
import { href } from '../../live/route.js';
import { ActionButton, type Action } from '../../parts/action.js';
import { Icon } from '../../parts/icons.js';
import { limitChange, RATE_FIELD } from '../../parts/limit-fields.js';
import { Menu } from '../../parts/menu.js';
import { queueToggle } from '../../parts/toggle.js';
import { enqueueAction } from './enqueue-action.js';
import { settingsAction } from './settings.js';

export function QueueButtons({ record, verbs }: { record: Queue; verbs: readonly Verb[] }) {
  const { queue, paused } = record;
  return (
    <>
      <ActionButton verbs={verbs} action={queueToggle(record)} icon={paused ? 'play' : 'paused'} />
      <ActionButton verbs={verbs} action={limitAction(record)} icon="gauge" />
      <ActionButton verbs={verbs} action={enqueueAction(queue)} icon="plus" />
      <a class="button" href={href('jobs', { queue })}>
        <Icon name="jobs" size={14} />
        Jobs
      </a>
      <Menu>
        <ActionButton verbs={verbs} action={settingsAction(queue)} />
        <ActionButton verbs={verbs} action={resetAction(queue)} />
        <a class="button" href={href('errors', { queue })}>
          Dead jobs by error
        </a>
        <a class="button" href={href('audit', { queue })}>
          Audit of the queue
        </a>
      </Menu>
    </>
  );
}

export function limitAction({ queue, maxRunning }: Queue): Action {
  return {
    verb: 'limit',
    text: 'Limit …',
    confirm: `Limit ${queue} in all processes`,
    fields: [
      {
        name: 'maxRunning',
        label: 'Running at once',
        hint: `A number, or "none". Empty: as it is${maxRunning === null ? '' : `, ${number(maxRunning)}`}.`,
      },
      RATE_FIELD,
      { name: 'rest', label: 'Rest', hint: 'Start no job for a time such as 30s or 10m, or "none".' },
    ],
    body: (values) => ({ queue, change: limitChange(values, 'maxRunning') }),
    done: () => `The limits of ${queue} are changed. Running jobs continue.`,
  };
}

function resetAction(queue: string): Action {
  return {
    verb: 'limit',
    text: 'Reset limits',
    confirm: `Limits of ${queue} as in its options again?`,
    body: () => ({ queue, change: null }),
    done: () => `The limits of ${queue} are those of its options again.`,
  };
}
