import { useEffect, useState } from 'preact/hooks';
import { messageOf, write } from '../api.js';
import type { Verb } from '../answers.js';
import { number } from '../format.js';
import { refresh } from '../live/live.js';
import { ask } from './dialog.js';
import type { Field, Values } from './field.js';
import { Icon, type IconName } from './icons.js';
import { announce } from './toasts.js';

export type BulkVerb = 'retry' | 'cancel' | 'promote' | 'remove';

/** The filter of a list, as the server takes it. */
export type JobFilter = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The selected jobs, or all jobs of a filter. */
export type Selection = { readonly ids: readonly number[] } | { readonly filter: JobFilter };

interface Bulk {
  readonly text: string;
  readonly past: string;
  readonly icon?: IconName;
}

const BULKS: Readonly<Record<BulkVerb, Bulk>> = {
  retry: { text: 'Retry', past: 'retried', icon: 'retry' },
  promote: { text: 'Run now', past: 'promoted', icon: 'play' },
  cancel: { text: 'Cancel', past: 'cancelled' },
  remove: { text: 'Remove', past: 'removed' },
};
const MAX_CHANGED = 10_000;
const REPLAY_RATE = '10/s';

export const BULK_VERBS = Object.keys(BULKS) as BulkVerb[];

interface Props {
  readonly verbs: readonly Verb[];
  readonly verb: BulkVerb;
  selection(): Selection;
  readonly text?: string;
  /** The whole name, if there is one button per row. */
  readonly label?: string;
  readonly isPrimary?: boolean;
  readonly onDone?: () => void;
}

/** A button that changes many jobs, or nothing without the right. */
export function BulkButton({ verbs, verb, selection, text, label, isPrimary, onDone }: Props) {
  if (!verbs.includes(verb)) return null;
  const { icon, text: ownText } = BULKS[verb];
  const name = isPrimary ? 'primary' : verb === 'remove' ? 'danger' : '';
  return (
    <button
      type="button"
      class={name}
      data-verb={verb}
      aria-label={label}
      onClick={() => askForBulk(verb, selection(), onDone)}
    >
      {icon && <Icon name={icon} size={14} />}
      {text ?? ownText} …
    </button>
  );
}

/** Asks with the number of jobs that a dry run has counted. */
export function askForBulk(verb: BulkVerb, selection: Selection, onDone?: () => void): void {
  const { text } = BULKS[verb];
  const which =
    'ids' in selection
      ? `${number(selection.ids.length)} selected jobs`
      : `all jobs of the filter ${filterText(selection.filter)}`;
  ask({
    title: `${text} ${which}?`,
    content: <DryRun verb={verb} selection={selection} />,
    fields: fieldsOf(verb, selection),
    submit: text,
    isDangerous: verb === 'remove' || verb === 'cancel',
    act: (values) => change(verb, selection, values).then(() => onDone?.()),
  });
}

function fieldsOf(verb: BulkVerb, selection: Selection): Field[] {
  const hint = `1 to ${number(MAX_CHANGED)} jobs`;
  const limit: Field = { name: 'limit', label: 'At most', type: 'number', value: String(MAX_CHANGED), hint };
  if (verb !== 'retry') return [limit];
  // All at once could flood the target that has just recovered.
  const value = 'filter' in selection && selection.filter['state'] === 'dead' ? REPLAY_RATE : '';
  return [
    limit,
    { name: 'rate', label: 'Rate', value, hint: 'Such as 10/s or 600/m. Empty: all at once.' },
    { name: 'to', label: 'Into queue', hint: 'Empty: the queue of each job.' },
  ];
}

async function change(verb: BulkVerb, selection: Selection, { limit, rate, to }: Values): Promise<void> {
  const options = { ...(limit && { limit: Number(limit) }), ...(rate && { rate }), ...(to && { to }) };
  const { changed = 0 } = await write(verb, { ...selection, ...options });
  const isFull = changed >= Number(limit || MAX_CHANGED) && 'filter' in selection;
  announce(`${number(changed)} jobs ${BULKS[verb].past}.${isFull ? ' There may be more: repeat the action.' : ''}`);
  await refresh();
}

function DryRun({ verb, selection }: { verb: BulkVerb; selection: Selection }) {
  const [text, setText] = useState('Counting');
  useEffect(() => void dryRun(verb, selection).then(setText), []);
  return <p role="status">{text}</p>;
}

async function dryRun(verb: BulkVerb, selection: Selection): Promise<string> {
  try {
    const { changed = 0 } = await write(verb, { ...selection, dryRun: true });
    return `A dry run counted ${number(changed)}${changed >= MAX_CHANGED ? ' or more' : ''} jobs.`;
  } catch (error) {
    return `The dry run failed: ${messageOf(error)}`;
  }
}

export function filterText(filter: JobFilter): string {
  return Object.entries(filter)
    .filter(([, value]) => value !== '' && value !== undefined)
    .map(([name, value]) => `${name} = ${[value].flat().join(', ')}`)
    .join(', ');
}
