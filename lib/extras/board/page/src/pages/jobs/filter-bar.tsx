import { useState } from 'preact/hooks';
import { clock } from '../../format.js';
import { now } from '../../live/clock.js';
import { errors, queues } from '../../live/live.js';
import { go, type Params } from '../../live/route.js';
import { Icon } from '../../parts/icons.js';
import type { PageProps } from '../../shell/pages.js';
import { FIELDS, FILTER_FIELDS, hintOf, instantOf, parseField, valueOf, type FilterField } from './job-filter.js';

interface Suggestion {
  readonly text: string;
  readonly hint?: string;
  /** Undefined: the text goes into the field, for a value. */
  readonly field?: FilterField;
  readonly value?: string;
}

const MAX_SUGGESTIONS = 8;

/** The filter as chips. Each is a part of the URL, so that a view can be sent to a colleague. */
export function FilterBar({ params }: PageProps) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(-1);
  const given = FIELDS.filter((field) => params[field]);
  const suggestions = text === '' ? [] : suggestionsFor(text, given);
  const show = (changes: Params) => go('jobs', { ...params, after: '', ...changes });
  const choose = ({ field, value, text: next }: Suggestion) => {
    setAt(-1);
    if (field === undefined || value === undefined) return setText(next);
    setText('');
    show({ [field]: valueOf(field, value, now.peek()) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    const id = /^#?(\d+)$/.exec(text)?.[1];
    if (key === 'ArrowDown') setAt(Math.min(suggestions.length - 1, at + 1));
    else if (key === 'ArrowUp') setAt(Math.max(-1, at - 1));
    else if (key === 'Escape') setText('');
    else if (key === 'Enter' && at < 0 && id) go('job', { id });
    else if (key === 'Enter') {
      const chosen = suggestions[Math.max(at, 0)];
      if (chosen) choose(chosen);
    } else if (key === 'Backspace' && text === '' && given.length > 0) show({ [given.at(-1)!]: '' });
    else return;
    event.preventDefault();
  };
  return (
    <div class="chips" role="search" aria-label="Filter of jobs">
      <Icon name="search" size={15} />
      {given.map((field) => (
        <Chip key={field} field={field} value={params[field]!} onRemove={() => show({ [field]: '' })} />
      ))}
      <input
        data-search
        role="combobox"
        aria-label="Add a filter"
        aria-expanded={suggestions.length > 0}
        aria-controls="filter-suggestions"
        aria-activedescendant={at >= 0 ? `suggestion-${at}` : undefined}
        placeholder={given.length > 0 ? 'Add a filter' : 'Filter by queue, name, error, key …, or a number'}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(-1);
        }}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">/</kbd>
      <ul
        id="filter-suggestions"
        class="hints"
        role="listbox"
        aria-label="Suggestions"
        hidden={suggestions.length === 0}
      >
        {suggestions.map((one, index) => (
          <li
            key={one.text}
            id={`suggestion-${index}`}
            role="option"
            aria-selected={index === at}
            onPointerDown={(event) => {
              event.preventDefault();
              choose(one);
            }}
          >
            {one.text}
            {one.hint && <span class="soft">{one.hint}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Chip({ field, value, onRemove }: { field: FilterField; value: string; onRemove: () => void }) {
  const time = field === 'createdAfter' || field === 'createdBefore' ? new Date(instantOf(value)) : undefined;
  const name = FILTER_FIELDS[field];
  return (
    <span class="chip">
      <span class="soft">{name}</span>
      <b>{time && !Number.isNaN(time.getTime()) ? clock(time) : value}</b>
      <button type="button" aria-label={`Remove the filter ${name}`} onClick={onRemove}>
        <Icon name="close" size={11} />
      </button>
    </span>
  );
}

function suggestionsFor(text: string, given: readonly FilterField[]): Suggestion[] {
  const parsed = parseField(text);
  if (parsed) {
    const { field, value } = parsed;
    const name = FILTER_FIELDS[field];
    const known = valuesOf(field).filter((one) => one.toLowerCase().includes(value.toLowerCase()) && one !== value);
    const own = value.trim() === '' ? [] : [value];
    return [...own, ...known].slice(0, MAX_SUGGESTIONS).map((one) => ({ text: `${name}:${one}`, field, value: one }));
  }
  const free = FIELDS.filter((one) => !given.includes(one));
  const named = free.filter((one) => FILTER_FIELDS[one].startsWith(text.toLowerCase()));
  const matching = queues.value.filter(({ queue }) => queue.includes(text)).slice(0, MAX_SUGGESTIONS - 4);
  return [
    ...named.map((one) => ({ text: `${FILTER_FIELDS[one]}:`, hint: hintOf(one) })),
    ...matching.map(({ queue }) => ({ text: `queue:${queue}`, field: 'queue' as const, value: queue })),
    ...(['name', 'key', 'error'] as const).map((one) => ({ text: `${one}:${text}`, field: one, value: text })),
  ];
}

function valuesOf(field: FilterField): string[] {
  if (field === 'queue') return queues.value.map(({ queue }) => queue);
  if (field === 'error') return [...new Set((errors.value ?? []).flatMap(({ error }) => error ?? []))];
  return [];
}
