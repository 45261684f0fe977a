import { queues } from '../../live/live.js';
import { go } from '../../live/route.js';
import type { Action } from '../../parts/action.js';
import { given, type Field } from '../../parts/field.js';
import { numberOr } from '../../parts/limit-fields.js';
import { parsedJson } from '../../parts/parsed-json.js';

const FIELDS: readonly Field[] = [
  {
    ...{ name: 'payload', label: 'Payload as JSON', type: 'textarea', rows: 6, required: true, value: '{}' },
    hint: 'The schema of the queue checks it if this process has one.',
  },
  { name: 'name', label: 'Name of the job', hint: 'Empty: default', isHalf: true },
  { name: 'delay', label: 'Delay', hint: 'Such as 30s, 10m or 2d. Empty: now', isHalf: true },
  { name: 'priority', label: 'Priority', type: 'number', hint: 'Smaller numbers run first. Empty: 0', isHalf: true },
  { name: 'key', label: 'Key', hint: 'At most one job of the queue has it.', isHalf: true },
];

const GROUP: Field = { name: 'group', label: 'Group', hint: 'Only in a queue with groups.', isHalf: true };

/** Enqueues a job by hand. */
export function enqueueAction(queue: string): Action {
  return {
    verb: 'enqueue',
    text: 'Enqueue …',
    confirm: `Enqueue a job into ${queue}`,
    fields: [
      {
        name: 'queue',
        label: 'Queue',
        required: true,
        value: queue,
        suggestions: queues.value.map((one) => one.queue),
      },
      ...FIELDS,
      GROUP,
    ],
    body: ({ payload = '', priority, ...texts }) => ({
      ...given(texts),
      payload: parsedJson(payload, 'payload', 'The payload is'),
      ...(priority && { priority: numberOr(priority) }),
    }),
    done: ({ id }) => `Job ${id} is enqueued.`,
    after: ({ id }) => go('job', { id }),
  };
}
