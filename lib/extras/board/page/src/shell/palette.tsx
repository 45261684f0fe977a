import { signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { now } from '../live/clock.js';
import { queues, problems } from '../live/live.js';
import { go } from '../live/route.js';
import { theme, THEMES } from '../live/theme.js';
import { startAction } from '../parts/action.js';
import { Icon, type IconName } from '../parts/icons.js';
import { queueToggle } from '../parts/toggle.js';
import { FILTER_FIELDS, parseField, valueOf, type FilterField } from '../pages/jobs/job-filter.js';
import { ENTRIES } from './pages.js';
import { showHelp } from './help.js';

/** The number of the open palette. Each one has another number. */
const opened = signal<number | undefined>(undefined);
let lastNumber = 0;

export const openPalette = () => (opened.value ??= ++lastNumber);

interface Entry {
  readonly icon: IconName;
  readonly text: string;
  readonly hint: string;
  run(): unknown;
}

const MAX_SHOWN = 12;
const THEME_ICONS = { light: 'sun', dark: 'moon', auto: 'auto' } as const;

export function Palette() {
  const number = opened.value;
  return number ? <OpenPalette key={number} number={number} /> : null;
}

function OpenPalette({ number: own }: { number: number }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  // Before the next key arrives.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const entries = entriesOf(text);
  const onClose = () => {
    // The next palette may be open when the browser reports the end of this one.
    if (opened.value === own) opened.value = undefined;
  };
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    dialog.current?.close();
    onClose();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(entries.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') run(entries[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Find"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="palette-input">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Find a page, a queue, a job or an action"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries.length > 0 ? `palette-${at}` : undefined}
          placeholder="A queue, a page, the number of a job, an action"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd aria-hidden="true">Esc</kbd>
      </div>
      <ul id="palette-list" role="listbox" aria-label="Found">
        {entries.map((entry, index) => (
          <li
            key={entry.text}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onPointerMove={() => setAt(index)}
            onClick={() => run(entry)}
          >
            <span class={`s-${entry.icon}`}>
              <Icon name={entry.icon} />
            </span>
            <span class="palette-text">{entry.text}</span>
            <span class="hint">{entry.hint}</span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}

function entriesOf(text: string): Entry[] {
  const id = /^\s*#?(\d+)\s*$/.exec(text)?.[1];
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = (entry: Entry) => words.every((word) => `${entry.text} ${entry.hint}`.toLowerCase().includes(word));
  const ofId: Entry[] = id
    ? [
        { icon: 'jobs', text: `Job #${id}`, hint: 'open', run: () => go('job', { id }) },
        { icon: 'flow', text: `Flow ${id}`, hint: 'open', run: () => go('flow', { id }) },
      ]
    : [];
  return [...ofId, ...fixedEntries().filter(isFound).slice(0, MAX_SHOWN), ...searches(text.trim())];
}

function fixedEntries(): Entry[] {
  const withQueue = (problems.value ?? []).filter(({ queue }) => queue !== null).slice(0, 3);
  return [
    ...withQueue.map(({ queue, severity, message }): Entry => ({
      ...{ icon: severity, text: message, hint: 'problem' },
      run: () => go('queue', { queue }),
    })),
    ...ENTRIES.map(([page, { icon, name, key }]): Entry => ({
      icon,
      text: name!,
      hint: `g ${key}`,
      run: () => go(page),
    })),
    ...queues.value.map(({ queue }): Entry => ({
      icon: 'queues',
      text: queue,
      hint: 'queue',
      run: () => go('queue', { queue }),
    })),
    ...queues.value.flatMap((one): Entry[] => {
      const action = queueToggle(one);
      if (!one.verbs.includes(action.verb)) return [];
      const icon = one.paused ? 'play' : 'paused';
      return [{ icon, text: action.label!, hint: 'action', run: () => startAction(action) }];
    }),
    ...THEMES.map((one): Entry => ({
      ...{ icon: THEME_ICONS[one], text: `Theme: ${one}`, hint: 'view' },
      run: () => (theme.value = one),
    })),
    { icon: 'search', text: 'Keyboard shortcuts', hint: '?', run: showHelp },
  ];
}

/** Lists of jobs with the text in one of their fields: in the field that it names, as in `key:order-7`, or in each. */
function searches(text: string): Entry[] {
  const named = parseField(text);
  if (named) return named.value === '' ? [] : [searchFor(named.field, named.value)];
  if (text === '') return [];
  return (['key', 'name', 'error', 'owner', 'group'] as const).map((field) => searchFor(field, text));
}

function searchFor(field: FilterField, text: string): Entry {
  return {
    ...{ icon: 'search', text: `Jobs with the ${FILTER_FIELDS[field]} ${text}`, hint: 'search' },
    run: () => go('jobs', { [field]: valueOf(field, text, now.peek()) }),
  };
}
