import type { Schedule } from '../../answers.js';
import { UNITS } from '../../format.js';
import { queues } from '../../live/live.js';
import type { Action } from '../../parts/action.js';
import { given, type Field, type Values } from '../../parts/field.js';
import { isWhole } from '../../parts/json-tree.js';
import { numberOr } from '../../parts/limit-fields.js';
import { parsedJson } from '../../parts/parsed-json.js';
import { NextTicks, timesOf } from './next-ticks.js';

const OVERLAPS = [
  ['allow', 'Enqueue the next job nevertheless'],
  ['skip', 'Leave the tick out'],
  ['one-waiting', 'Leave it out while that job has not started'],
] as const;

/** Creates a schedule in one of the queues. */
export function createAction(names: readonly string[]): Action {
  return {
    verb: 'create-schedule',
    text: 'New schedule …',
    confirm: 'New schedule',
    fields: [{ name: 'name', label: 'Name', required: true, hint: 'Such as report:daily' }, ...fieldsOf(names)],
    result: (values) => <NextTicks values={values} />,
    body: (values) => bodyOf(values, values['payload'] || '{}'),
    done: () => 'The schedule is created.',
  };
}

/** Replaces the times, the queue, the name of the jobs and the payload. */
export function editAction(schedule: Schedule): Action {
  const { name, payload, until } = schedule;
  const shown = isWhole(payload) ? payload.text.trim() : '';
  // The field has whole minutes. An end that is the same keeps its seconds.
  const withUntil = (values: Values) =>
    until !== null && values['until'] === localTime(until) ? { ...values, until } : values;
  return {
    verb: 'edit-schedule',
    text: 'Edit …',
    label: `Edit ${name}`,
    confirm: `Edit ${name}`,
    fields: fieldsOf(
      queues.value.map(({ queue }) => queue),
      schedule,
    ),
    result: (values) => <NextTicks values={withUntil(values)} />,
    // A payload that is the same, or that is hidden, stays as it is.
    body: (values) => ({ ...bodyOf(withUntil(values), values['payload'] === shown ? '' : values['payload']), name }),
    done: () => `Schedule ${name} is changed.`,
  };
}

export function removeAction({ name }: Schedule): Action {
  return {
    ...{ verb: 'remove-schedule', text: 'Remove', label: `Remove ${name}`, isDangerous: true },
    confirm: `Delete the schedule ${name}? Its jobs stay.`,
    body: () => ({ name }),
    done: () => `Schedule ${name} is deleted.`,
  };
}

function fieldsOf(names: readonly string[], schedule?: Schedule): Field[] {
  const { queue, jobName, cron, everyMs, tz, overlap, jitterMs, until, payload } = schedule ?? {};
  const isHidden = schedule !== undefined && !isWhole(payload ?? null);
  return [
    { name: 'queue', label: 'Queue', required: true, value: queue, suggestions: names, isHalf: true },
    { name: 'jobName', label: 'Name of the jobs', value: jobName, hint: 'Empty: default', isHalf: true },
    { name: 'cron', label: 'Cron', value: cron ?? '', hint: 'Such as 0 3 * * * or @daily', isHalf: true },
    { name: 'tz', label: 'Time zone', value: cron ? tz : '', hint: 'Of cron. Empty: UTC', isHalf: true },
    { name: 'every', label: 'Or every', value: lengthOf(everyMs), hint: 'Such as 15m', isHalf: true },
    {
      name: 'missed',
      label: 'Missed ticks',
      value: missedText(schedule),
      hint: 'once, skip or a number',
      isHalf: true,
    },
    { name: 'overlap', label: 'If the last job has not ended', type: 'select', options: OVERLAPS, value: overlap },
    { name: 'jitter', label: 'Jitter', value: lengthOf(jitterMs), hint: 'Such as 5m. Empty: none', isHalf: true },
    {
      ...{ name: 'until', label: 'No tick after', type: 'datetime-local', value: localTime(until) },
      hint: 'In your time zone',
    },
    {
      ...{ name: 'payload', label: 'Payload as JSON', type: 'textarea', rows: 4 },
      value: schedule === undefined ? '{}' : isHidden ? '' : payload!.text,
      hint: isHidden ? 'Parts of it are hidden. Empty: it stays. A new one replaces all of it.' : undefined,
    },
  ];
}

function bodyOf(values: Values, payload: string | undefined): object {
  return {
    ...given({ ...timesOf(values), name: values['name'] ?? '', queue: values['queue'] ?? '' }),
    ...given({ jobName: values['jobName'] ?? '' }),
    ...(values['missed'] && { missed: missedOf(values['missed']) }),
    ...(payload && { payload: parsedJson(payload, 'payload', 'The payload is') }),
  };
}

/** The server reports other texts. */
function missedOf(text: string): unknown {
  return /^\d+$/.test(text) ? { all: numberOr(text) } : text;
}

function missedText(schedule: Schedule | undefined): string {
  const { missed = 'once' } = schedule ?? {};
  return typeof missed === 'string' ? missed : String(missed.all);
}

/** In the largest unit that has a whole number of it, as the server takes it. */
function lengthOf(ms: number | null | undefined): string {
  if (!ms) return '';
  const [unit, length] = UNITS.find(([, one]) => ms % one === 0) ?? (['ms', 1] as const);
  return `${ms / length}${unit === 'min' ? 'm' : unit}`;
}

/** As the field takes it: in the zone of the viewer, without a zone. */
function localTime(at: string | null | undefined): string {
  if (!at) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
