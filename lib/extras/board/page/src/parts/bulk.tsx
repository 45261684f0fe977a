import { useEffect, useState } from 'preact/hooks';
import type { BulkVerb } from '../../../../../job/changed-states.js';
import { messageOf, write } from '../api.js';
import type { Count, Preview as PreviewAnswer, Verb } from '../answers.js';
import { countOf, number, plural, sum } from '../format.js';
import { refresh } from '../live/live.js';
import { rightsFor } from '../live/rights.js';
import { ask } from './dialog.js';
import type { Field, Values } from './field.js';
import { Icon, type IconName } from './icons.js';
import { announce } from './toasts.js';

/** The filter of a list, as the server takes it. */
export type JobFilter = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The selected jobs, and the state of the list from which they are, if it has one; or all jobs of a filter. */
export type Selection =
  { readonly ids: readonly number[]; readonly listState?: string | undefined } | { readonly filter: JobFilter };

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
  /** The states of the jobs, if they are known. The verb may change none of them. */
  readonly states?: readonly string[] | undefined;
  readonly isPrimary?: boolean;
  readonly onDone?: () => void;
}

/** A button that changes many jobs, or nothing without the right. */
export function BulkButton({ verbs, verb, selection, text, label, states, isPrimary, onDone }: Props) {
  if (!verbs.includes(verb)) return null;
  const { icon, text: ownText } = BULKS[verb];
  const reason = states && reasonNotTo(verb, states, 'filter' in selection());
  const name = isPrimary ? 'primary' : verb === 'remove' ? 'danger' : '';
  return (
    <button
      type="button"
      class={name}
      data-verb={verb}
      aria-label={label}
      aria-disabled={reason !== undefined}
      title={reason}
      onClick={() => (reason === undefined ? askForBulk(verb, selection(), onDone) : announce(reason))}
    >
      {icon && <Icon name={icon} size={14} />}
      {text ?? ownText} …
    </button>
  );
}

/** Why the verb would change no job in these states; undefined: it may change some. */
function reasonNotTo(verb: BulkVerb, states: readonly string[], isFilter: boolean): string | undefined {
  // A retry of the filter for completed jobs means them.
  if (verb === 'retry' && isFilter && states.includes('completed')) return undefined;
  const changed = rightsFor().changes?.[verb];
  if (!changed || states.some((state) => changed.includes(state))) return undefined;
  return `${BULKS[verb].text} changes no job that is ${[...new Set(states)].join(' or ')}, only: ${changed.join(', ')}.`;
}

/** Asks with the numbers of jobs that the server would change and skip. */
export function askForBulk(verb: BulkVerb, selection: Selection, onDone?: () => void): void {
  const { text } = BULKS[verb];
  const which =
    'ids' in selection
      ? `${number(selection.ids.length)} selected jobs`
      : `all jobs of the filter ${filterText(selection.filter)}`;
  ask({
    title: `${text} ${which}?`,
    result: ({ rate = '', to = '' }) => <Preview {...{ verb, selection }} isReplay={rate !== '' || to !== ''} />,
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

/** @param isReplay a retry at a rate or into another queue, which starts only finished jobs anew */
function Preview({ verb, selection, isReplay }: { verb: BulkVerb; selection: Selection; isReplay: boolean }) {
  const [text, setText] = useState('Counting');
  useEffect(() => {
    let isLatest = true;
    void preview(verb, selection, isReplay).then((counted) => isLatest && setText(counted));
    return () => void (isLatest = false);
  }, [isReplay]);
  return <p role="status">{text}</p>;
}

async function preview(verb: BulkVerb, selection: Selection, isReplay: boolean): Promise<string> {
  try {
    // The number of jobs is the same at each rate.
    const { changes, skips, left } = await write(verb, {
      ...selection,
      dryRun: true,
      ...(isReplay && { rate: '1/s' }),
    });
    return previewText({ changes: changes!, skips: skips!, left: left! });
  } catch (error) {
    return `The jobs could not be counted: ${messageOf(error)}`;
  }
}

function previewText({ changes, skips, left }: PreviewAnswer): string {
  const reasons = Object.entries(skips) as [string, Count][];
  const changed = `Changes ${countOf(changes)} ${changes.value === 1 && !changes.atLeast ? 'job' : 'jobs'}`;
  const gone = sum(Object.values(left));
  const since =
    gone === 0
      ? ''
      : ` Of the selected jobs, ${plural(gone, 'job')} left the filter: ${Object.entries(left)
          .map(([state, value]) => reasonText(state, { value, atLeast: false }))
          .join(', ')} now.`;
  if (reasons.length === 0) return `${changed}, skips none.${since}`;
  const total = { value: sum(reasons.map(([, { value }]) => value)), atLeast: reasons.some(([, one]) => one.atLeast) };
  return `${changed}, skips ${countOf(total)}: ${reasons.map(([reason, count]) => reasonText(reason, count)).join(', ')}.${since}`;
}

function reasonText(reason: string, count: Count): string {
  const isOne = count.value === 1 && !count.atLeast;
  if (reason === 'unknown') return `${countOf(count)} no longer ${isOne ? 'exists' : 'exist'}`;
  return `${countOf(count)} ${isOne ? 'is' : 'are'} ${reason}`;
}

export function filterText(filter: JobFilter): string {
  return Object.entries(filter)
    .filter(([, value]) => value !== '' && value !== undefined)
    .map(([name, value]) => `${name} = ${[value].flat().join(', ')}`)
    .join(', ');
}
